package redisadapter

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkeyhq/latchkey"
)

type userObject struct {
	ID            string  `json:"id"`
	Name          *string `json:"name"`
	Email         *string `json:"email"`
	EmailVerified iso     `json:"emailVerified"`
	Image         *string `json:"image"`
}

// foundUser is a user and the text that says so.
type foundUser struct {
	latchkey.User
	text *string
}

// asUser reads a user. Keys of other records begin like those of users: what is
// not the user of that id is nobody.
func asUser(text *string, id string) (foundUser, error) {
	var o userObject
	if id == "" || !decodeObject(text, &o) || o.ID != id {
		return foundUser{text: text}, latchkey.ErrNotFound
	}
	return foundUser{latchkey.User{
		ID: id, Name: orEmpty(o.Name), Email: orEmpty(o.Email), EmailVerified: o.EmailVerified.Time, Image: orEmpty(o.Image),
		Extra: extraOf(text, o),
	}, text}, nil
}

func (a *authJS) user(ctx context.Context, id string) (foundUser, error) {
	text, err := a.text(ctx, a.at(ofUser, id))
	if err != nil {
		return foundUser{}, err
	}
	return asUser(text, id)
}

func userText(over *string, u latchkey.User) (string, error) {
	if !areUTF8(u.ID, u.Name, u.Email, u.Image) {
		return "", errNoUTF8
	}
	return encodeObject(over, userObject{u.ID, orNull(u.Name), orNull(u.Email), iso{u.EmailVerified}, orNull(u.Image)}, u.Extra)
}

// claimEmail makes an e-mail address the user's, unless it is somebody's. A key
// that leads to somebody whose address has another key by now is left over:
// Auth.js removes none.
func (a *authJS) claimEmail(ctx context.Context, p *plan, email, id string) error {
	if email == "" {
		return nil
	}
	key := a.at(ofEmail, email)
	claim, err := a.text(ctx, key)
	if err != nil {
		return err
	}
	if owner := reference(claim); owner != "" && owner != id {
		u, err := a.user(ctx, owner)
		if err == nil && a.haveOneKey(u.Email, email) {
			return latchkey.ErrConflict
		}
		if err := ignoreMissing(err); err != nil {
			return err
		}
		p.want(a.at(ofUser, owner), u.text)
	}
	p.want(key, claim)
	p.set(key, id)
	return nil
}

// haveOneKey tells whether two e-mail addresses have the same key, as in
// unstorage "/ada@example.com" and "ada@example.com" do.
func (a *authJS) haveOneKey(email, other string) bool {
	return email == other || email != "" && other != "" && a.at(ofEmail, email) == a.at(ofEmail, other)
}

func ignoreMissing(err error) error {
	if errors.Is(err, latchkey.ErrNotFound) {
		return nil
	}
	return err
}

// CreateUser implements [latchkey.Adapter].
func (a *authJS) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	if u.ID == "" {
		u.ID = newUUID()
	}
	text, err := userText(nil, u)
	if err != nil {
		return latchkey.User{}, err
	}
	key := a.at(ofUser, u.ID)
	err = a.change(ctx, func(p *plan) error {
		taken, err := a.text(ctx, key)
		if err == nil && taken != nil {
			err = latchkey.ErrConflict
		}
		if err != nil {
			return err
		}
		p.want(key, nil)
		p.set(key, text)
		return a.claimEmail(ctx, p, u.Email, u.ID)
	})
	if err != nil {
		return latchkey.User{}, err
	}
	stored, err := asUser(&text, u.ID)
	return stored.User, err
}

// GetUser implements [latchkey.Adapter].
func (a *authJS) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	u, err := a.user(ctx, id)
	return u.User, err
}

// GetUserByEmail implements [latchkey.Adapter].
func (a *authJS) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	claim, err := a.text(ctx, a.at(ofEmail, email))
	if err != nil {
		return latchkey.User{}, err
	}
	u, err := a.user(ctx, reference(claim))
	if err == nil && (email == "" || u.Email != email) {
		return latchkey.User{}, latchkey.ErrNotFound
	}
	return u.User, err
}

// UpdateUser implements [latchkey.Adapter].
func (a *authJS) UpdateUser(ctx context.Context, id string, c latchkey.UserChange) (latchkey.User, error) {
	var after foundUser
	err := a.change(ctx, func(p *plan) error {
		before, err := a.user(ctx, id)
		if err != nil {
			return err
		}
		u := before.User
		setIf(&u.Name, c.Name)
		setIf(&u.Email, c.Email)
		setIf(&u.EmailVerified, c.EmailVerified)
		setIf(&u.Image, c.Image)
		text, err := userText(before.text, u)
		if err != nil {
			return err
		}
		p.want(a.at(ofUser, id), before.text)
		p.set(a.at(ofUser, id), text)
		if after, err = asUser(&text, id); err != nil || u.Email == before.Email {
			return err
		}
		if !a.haveOneKey(u.Email, before.Email) {
			if err := a.releaseEmail(ctx, p, before.User); err != nil {
				return err
			}
		}
		return a.claimEmail(ctx, p, u.Email, id)
	})
	return after.User, err
}

func setIf[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// releaseEmail removes the key of a user's e-mail address, if it is theirs.
func (a *authJS) releaseEmail(ctx context.Context, p *plan, u latchkey.User) error {
	if u.Email == "" {
		return nil
	}
	key := a.at(ofEmail, u.Email)
	claim, err := a.text(ctx, key)
	if err == nil && reference(claim) == u.ID {
		p.want(key, claim)
		p.Delete = append(p.Delete, key)
	}
	return err
}

// DeleteUser implements [latchkey.UserDeletionAdapter]. It removes what is in our
// list of the user's belongings and in Auth.js' indexes.
func (a *authJS) DeleteUser(ctx context.Context, id string) (latchkey.User, error) {
	var removed latchkey.User
	err := a.end(ctx, a.at(ofUser, id), func(p *plan) error {
		u, err := a.user(ctx, id)
		if err != nil {
			return err
		}
		removed = u.User
		p.want(a.at(ofUser, id), u.text)
		p.Delete = append(p.Delete, a.at(ofUser, id))
		if err := a.releaseEmail(ctx, p, u.User); err != nil {
			return err
		}
		for _, part := range []string{ofAccount, ofSession} {
			all, keys, err := a.belongings(ctx, id, part)
			if err != nil {
				return err
			}
			for _, one := range all {
				p.Delete = append(p.Delete, one.key)
			}
			if part == ofAccount {
				p.Owns = append(p.Owns, [2]any{a.at(belongingsOf, id), append([]string{}, keys...)})
			}
		}
		if err := a.deletePasskeys(ctx, p, id); err != nil {
			return err
		}
		p.Delete = append(p.Delete, a.at(belongingsOf, id), a.at(lastAccountOf, id), a.at(lastSessionOf, id))
		return nil
	})
	if err != nil {
		return latchkey.User{}, err
	}
	return removed, nil
}

// belonging is a record of a user.
type belonging struct{ key, text string }

// belongings are the records of a user whose keys begin with a part, and all
// keys that our list has. Of what Auth.js has stored, its index knows the last.
func (a *authJS) belongings(ctx context.Context, userID, part string) (all []belonging, listed []string, err error) {
	if listed, err = a.owned(ctx, userID); err != nil {
		return nil, nil, err
	}
	keys := ofPart(listed, a.prefix+part)
	last := map[string]string{ofAccount: lastAccountOf, ofSession: lastSessionOf}[part]
	indexed, err := a.text(ctx, a.at(last, userID))
	if err != nil {
		return nil, nil, err
	}
	keys = appendNew(keys, ofPart([]string{reference(indexed)}, a.prefix+part))
	texts, err := a.texts(ctx, keys...)
	var absent []string
	for i, text := range texts {
		if text == nil {
			absent = append(absent, keys[i])
			continue
		}
		var of struct {
			UserID string `json:"userId"`
		}
		if decodeObject(text, &of) && of.UserID == userID {
			all = append(all, belonging{keys[i], *text})
		}
	}
	return all, a.prune(ctx, userID, listed, absent), err
}

// mostPruned bounds what a reader of a list does for others.
const mostPruned = 100

// prune takes keys that hold nothing from our list, as long as they do, and
// returns what is left of it. What cannot be taken from it does no harm there.
func (a *authJS) prune(ctx context.Context, userID string, listed, absent []string) []string {
	if len(absent) == 0 {
		return listed
	}
	absent = absent[:min(len(absent), mostPruned)]
	var p plan
	for _, key := range absent {
		p.want(key, nil)
		p.Remove = append(p.Remove, [2]string{a.at(belongingsOf, userID), key})
	}
	if a.commit(ctx, &p) != nil {
		return listed
	}
	return slices.DeleteFunc(listed, func(key string) bool { return slices.Contains(absent, key) })
}
