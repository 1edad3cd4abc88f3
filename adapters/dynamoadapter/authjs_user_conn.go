package dynamoadapter

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// userConn is a conn whose records of users are items of Auth.js, so that package
// kvstore decides about both sides' users by what they are now.
type userConn struct {
	*conn
	layout Layout
}

// shared has the attributes of users that both sides write, except the id.
var shared = []string{"name", "email", "emailVerified", "image"}

var (
	writtenOfUser = append([]string{"id", "type", versionField, detailsField}, shared...)
	fieldsOfUser  = append([]string{"expires"}, writtenOfUser...) // by which DynamoDB would remove the user
)

// bornElsewhere is the birth of a user that Auth.js has made.
const bornElsewhere = "authjs"

// Get implements [kvstore.Conn]. A caller must not ask for a user beside other keys.
func (p userConn) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	if len(keys) != 1 || keys[0].Kind != kvstore.KindUser {
		return p.conn.Get(ctx, keys...)
	}
	found, err := p.conn.items(ctx, p.keyItem(keys[0]))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	r, err := p.record(keys[0], found[0])
	return []kvstore.Record{r}, err
}

// record returns the record of a user's item, as package kvstore writes one. Six members
// are attributes of Auth.js. The others come from detailsField, without the member as,
// which only items have. A user without born was made by Auth.js: record sets
// bornElsewhere.
func (p userConn) record(k kvstore.Key, in item) (r kvstore.Record, err error) {
	members := detailsOf(in)
	delete(members, "as")
	if members["born"] == nil {
		members["born"] = bornElsewhere
	}
	members["id"] = k.Name
	for _, name := range []string{"name", "email", "image"} {
		if s := textOf(in[name]); s != "" {
			members[name] = s
		}
	}
	if at := timeOf(in["emailVerified"]); !at.IsZero() {
		members["verified"] = at.UnixMilli()
	}
	if extra := extraOf(in, fieldsOfUser, p.layout.keys()); extra != nil {
		members["extra"] = extra
	}
	r.Key, r.Version = k, versionOf(in)
	if r.Value, err = json.Marshal(members); err != nil {
		err = errMember // the cause may quote a value
	}
	return r, err
}

// detailsOf returns the members in detailsField. The map is empty, and not nil,
// if there are none.
func detailsOf(in item) map[string]any {
	var members map[string]any
	if json.Unmarshal([]byte(textOf(in[detailsField])), &members) != nil || members == nil {
		return map[string]any{}
	}
	return members
}

// versionOf returns the version of our last write. If Auth.js has written the user
// since, it adds "~" and a digest. For a user whom only Auth.js has written, it returns
// "~" and the digest.
func versionOf(in item) string {
	v, digest := textOf(in[versionField]), digestOf(in)
	if v != "" && detailsOf(in)["as"] == digest {
		return v
	}
	return v + "~" + digest
}

// digestOf returns a digest of the attributes that both sides write.
func digestOf(in item) string {
	var texts []string
	for _, name := range shared {
		texts = append(texts, textOf(in[name]))
	}
	sum := hashOf(texts...)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// userItem is the reverse of the method record: it returns the item to store for a
// user's record. It returns errMember, errTooLong or errReserved for a record that
// cannot be stored.
func (p userConn) userItem(r kvstore.Record) (item, error) {
	var known struct {
		ID, Name, Email, Image, State string
		Verified                      int64
		Extra                         map[string]any
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(r.Value, &known) != nil || json.Unmarshal(r.Value, &members) != nil {
		return nil, errMember
	}
	if len(known.Email) > 1000 {
		return nil, errTooLong
	}
	for _, name := range []string{"id", "name", "email", "image", "verified", "extra"} {
		delete(members, name)
	}
	in := p.keyItem(r.Key)
	in["type"], in["id"], in[versionField] = text("USER"), text(known.ID), text(r.Version)
	in["name"], in["email"], in["image"], in["emailVerified"] = orNull(known.Name), orNull(known.Email), orNull(known.Image), orNull("")
	if known.Verified != 0 {
		in["emailVerified"] = text(isoOf(time.UnixMilli(known.Verified)))
	}
	if known.State == "" && known.Email != "" { // the index has no user who is being made or deleted
		in[p.layout.IndexPartitionKey], in[p.layout.IndexSortKey] = text(ofUser+known.Email), text(ofUser+known.Email)
	}
	members["as"], _ = json.Marshal(digestOf(in)) // never fails for a text
	details, err := json.Marshal(members)
	if err != nil {
		return nil, errMember
	}
	in[detailsField] = text(string(details))
	return in, p.keepExtra(in, r.Value)
}

// keepExtra adds the members of extra in a record's value to the item. It returns
// errReserved if one has the name of another attribute, and errMember if extra is no
// JSON object.
func (p userConn) keepExtra(in item, value []byte) error {
	var of struct{ Extra json.RawMessage }
	if json.Unmarshal(value, &of) != nil {
		return errMember
	}
	if len(of.Extra) == 0 {
		return nil
	}
	extra, err := attributeOf(of.Extra)
	if err != nil {
		return err
	}
	members, _ := extra.(*types.AttributeValueMemberM)
	if members == nil {
		return errMember
	}
	for name, v := range members.Value {
		if slices.Contains(fieldsOfUser, name) || slices.Contains(p.layout.keys(), name) {
			return errReserved
		}
		in[name] = v
	}
	return nil
}

// Put implements [kvstore.Conn]. A write of Auth.js since over was read is ErrConflict, too.
// An id that is not plain is errMember: package kvstore begins the name of its user with "=".
func (p userConn) Put(ctx context.Context, r kvstore.Record, over string) error {
	if r.Kind != kvstore.KindUser {
		return p.conn.Put(ctx, r, over)
	}
	if strings.HasPrefix(r.Name, "=") {
		return errMember // [authJS] gives no user such an id
	}
	after, err := p.userItem(r)
	if err != nil {
		return err
	}
	found, err := p.conn.items(ctx, p.keyItem(r.Key))
	if err != nil {
		return err
	}
	var before item
	if len(found) > 0 {
		before = found[0]
	}
	if before != nil && textOf(before[versionField]) == r.Version {
		return nil
	}
	if before == nil && over != "" || before != nil && versionOf(before) != over {
		return storage.ErrConflict
	}
	err = p.write(ctx, before, after)
	if !errors.Is(err, storage.ErrConflict) {
		return err
	}
	if found, e := p.conn.items(ctx, p.keyItem(r.Key)); e == nil && len(found) > 0 && textOf(found[0][versionField]) == r.Version {
		return nil // the client has repeated a call whose answer was lost
	}
	return err
}

// write stores the item after in place of the item before, which was read, or is nil if there
// was none. If before is of another user of the same id, write replaces it as a whole.
// Otherwise it keeps attributes that this package does not know. It returns ErrConflict if the
// stored item differs from before in an attribute by which either side decides.
func (p userConn) write(ctx context.Context, before, after item) error {
	if before == nil {
		return p.replace(ctx, before, after)
	}
	if born := detailsOf(before)["born"]; born != nil && born != detailsOf(after)["born"] {
		return p.replace(ctx, before, after)
	}
	return p.update(ctx, before, after)
}

// replace stores the whole item after in place of the item before, which was read. If
// before is nil, there must be no item. replace returns ErrConflict if the condition of
// the method same is not met.
func (p userConn) replace(ctx context.Context, before, after item) error {
	e := p.same(before)
	_, err := p.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &p.table, Item: after, ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}

// update writes those attributes of the item after that this package knows, and leaves
// others as they are. The item before was read, and is not nil. update returns
// ErrConflict if the condition of the method same is not met.
func (p userConn) update(ctx context.Context, before, after item) error {
	e := p.same(before)
	var set, remove []string
	for _, name := range slices.Concat(writtenOfUser, []string{p.layout.IndexPartitionKey, p.layout.IndexSortKey}) {
		if v, has := after[name]; has {
			set = append(set, e.name(name)+" = "+e.value(v))
		} else {
			remove = append(remove, e.name(name))
		}
	}
	change := "SET " + strings.Join(set, ", ")
	if len(remove) > 0 {
		change += " REMOVE " + strings.Join(remove, ", ")
	}
	_, err := p.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &p.table, Key: item{p.pk: after[p.pk], p.sk: after[p.sk]}, UpdateExpression: &change,
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}

// orConflict returns ErrConflict if a condition was not met, and otherwise what
// failure returns.
func orConflict(ctx context.Context, err error) error {
	if isRefused(err) {
		return storage.ErrConflict
	}
	return failure(ctx, err)
}

// same returns the condition that the stored item has the same values as the item before
// in all attributes by which either side decides. If before is nil, the condition is
// that there is no item.
func (p userConn) same(before item) *expression {
	e := newExpression()
	if before == nil {
		e.and("attribute_not_exists(" + e.name(p.pk) + ")")
		return e
	}
	for _, name := range slices.Concat(shared, []string{versionField, detailsField}) {
		if v, has := before[name]; has {
			e.and(e.name(name) + " = " + e.value(v))
		} else {
			e.and("attribute_not_exists(" + e.name(name) + ")")
		}
	}
	e.and("attribute_exists(" + e.name(p.pk) + ")")
	return e
}

// Delete implements [kvstore.Conn]. If the user is marked as gone, it first removes all
// accounts and sessions that are left of that user, so that no later user of the same id
// gets them. A write of Auth.js does not stop the deletion of such a user.
func (p userConn) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	if k.Kind != kvstore.KindUser {
		return p.conn.Delete(ctx, k, version)
	}
	found, err := p.conn.items(ctx, p.keyItem(k))
	if err != nil || len(found) == 0 {
		return kvstore.Record{}, orNotFound(err)
	}
	before := found[0]
	r, err := p.record(k, before)
	if err != nil {
		return r, err
	}
	e, gone := p.same(before), detailsOf(before)["state"] == "gone"
	if gone {
		e, r.Version = newExpression(), textOf(before[versionField])
		e.and(e.name(versionField) + " = " + e.value(before[versionField]))
		version, _, _ = strings.Cut(version, "~")
	}
	if version != "" && r.Version != version {
		return r, storage.ErrConflict
	}
	if gone {
		if err := p.sweep(ctx, k); err != nil {
			return r, err
		}
	}
	_, err = p.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &p.table, Key: p.keyItem(k), ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return r, orConflict(ctx, err)
}

// orNotFound returns ErrNotFound for nil, and any other error as it is.
func orNotFound(err error) error {
	if err == nil {
		return storage.ErrNotFound
	}
	return err
}
