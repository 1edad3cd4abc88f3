package page

import (
	"strings"
	"testing"
)

func TestTheLastWayInStays(t *testing.T) {
	r := mustNew(t, Options{})
	p, err := r.Account(Account{UnlinkAction: "/unlink", Linked: []Linked{{Provider: Provider{ID: "github"}, ProviderAccountID: "17"}}})
	doc := mustParse(t, p, err)
	if len(doc.all("form")) != 0 || !strings.Contains(doc.words(), "only way in") {
		t.Errorf("the page says %q and has %d forms", doc.words(), len(doc.all("form")))
	}
}

func TestThisDeviceIsNotEndedFromTheList(t *testing.T) {
	r := mustNew(t, Options{})
	p, err := r.Account(Account{EndAction: "/end", OthersAction: "/others", Devices: []Device{{ID: "d1", This: true}}})
	if doc := mustParse(t, p, err); len(doc.all("form")) != 0 || !strings.Contains(doc.words(), "This device") {
		t.Errorf("alone: %q with %d forms", doc.words(), len(doc.all("form")))
	}
	p, err = r.Account(Account{EndAction: "/end", OthersAction: "/others", Devices: []Device{{ID: "d1", This: true}, {ID: "d2"}}})
	forms := mustParse(t, p, err).all("form")
	if len(forms) != 2 || forms[0].attr("action") != "/end" || forms[1].attr("action") != "/others" {
		t.Errorf("with another: %d forms", len(forms))
	}
}

func TestPartsWithoutURLAreNotShown(t *testing.T) {
	p, err := mustNew(t, Options{}).Account(Account{})
	doc := mustParse(t, p, err)
	if got := doc.words(); got != "Your account" {
		t.Errorf("an empty account page says %q", got)
	}
}

func TestDeletingNeedsAStep(t *testing.T) {
	r := mustNew(t, Options{})
	p, err := r.Account(someAccount)
	for _, form := range mustParse(t, p, err).all("form") {
		if form.attr("action") == someAccount.DeleteURL {
			t.Error("the account page itself deletes the account")
		}
	}
	p, err = r.DeleteAccount(DeleteAccount{Action: "/delete"})
	box := mustParse(t, p, err).all("input")[1]
	if box.attr("name") != "confirm" || box.attr("value") != "delete" || !box.has("required") {
		t.Errorf("the step is %v", box.attrs)
	}
}
