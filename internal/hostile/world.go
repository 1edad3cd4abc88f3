package hostile

import (
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// Worlds are the orders of events in which a program is visited, each by a victim and
// by an intruder. Each is compared with another one, in which the intruder has nothing of
// the victim's: it must not get more. See [Report].
var Worlds = map[string]string{
	"stranger":  "",         // the intruder brings an address of their own, not proven
	"unproven":  "stranger", // … the victim's, marked as not proven
	"unnamed":   "stranger", // … the victim's, without a mark
	"early":     "latecomer",
	"latecomer": "", // a stranger who comes before the victim

	"first": "",      // a stranger where the victim has not been yet
	"alone": "first", // … with the victim's address, not proven

	"fresh":    "",      // the new owner of the address proves it, and there was no victim
	"recycled": "fresh", // … and there was: the same address with a new sub

	"elsewhere": "",          // a stranger of another tenant
	"foreign":   "elsewhere", // the victim's sub at the issuer of another tenant

	"setback": "", // no intruder: what Events call fails once, and the victim comes back
}

// Report is the result of one program in one world.
type Report struct {
	Log      []string // what the intruder saw
	In       bool     // the intruder was signed in at the end
	VictimIn bool     // and the victim
	Ran      []string // functions that decide what a user may do and have run
	Faults   []string // what no comparison is needed for
	Armed    bool     // the program made a site
}

// run plays s.world on site. It adds to report the log of the intruder and what is wrong.
func (s *stage) run(site http.Handler, report *Report) {
	at, others, basePath := s.where(site)
	v := open(site, at, basePath, victim, s.address)
	i := open(site, at, basePath, intruder, s.address)
	arrive := func() {
		if s.world == "fresh" || s.world == "first" || s.world == "alone" {
			return
		}
		v.openMails()
		v.signIn(s.issuer, true)
		mail := open(site, at, basePath, victim, s.address)
		if mail.signInByMail() && !v.isIn() {
			v = mail
		}
		s.victims = append(s.victims, v.user, mail.user)
		report.VictimIn = report.VictimIn || v.isIn()
		mail.visit()
		v.visit()
	}
	if s.world == "setback" {
		arrive()
		arrive()
		report.Faults = append(report.Faults, s.undone()...)
		return
	}
	iss, verified := s.dress(i)
	intrude := func(act func()) {
		if verified != true { // false, or nil: the issuer says nothing
			s.claim(i.email)
		}
		act()
		s.claim("")
	}
	if s.world == "early" || s.world == "latecomer" {
		intrude(func() { i.signIn(iss, verified); i.visit() })
		arrive()
	} else {
		arrive()
		intrude(func() { i.signIn(iss, verified) })
	}
	gifts := len(s.gifts)
	intrude(i.visit)
	s.callAll(i)
	for _, gift := range s.gifts[gifts:] {
		i.log = append(i.log, i.plain(gift))
	}
	report.Log, report.In = append(report.Log, i.log...), report.In || i.in
	report.Faults = append(report.Faults, s.faults(site, v, i, others, basePath)...)
	report.Faults = append(report.Faults, s.told...)
}

// dress gives the intruder the address and the subject of the world. It returns the issuer
// at which the intruder signs in, and what that says in email_verified; nil: nothing.
func (s *stage) dress(i *browser) (iss *latchkeytest.Issuer, verified any) {
	switch s.world {
	case "stranger", "latecomer", "elsewhere", "first":
		i.email = stranger
	case "foreign":
		i.email, i.subject = stranger, victim
	}
	switch s.world {
	case "unproven", "early", "stranger", "latecomer", "first", "alone":
		verified = false
	case "fresh", "recycled":
		verified = true
	}
	iss = s.issuer
	if s.world == "foreign" || s.world == "elsewhere" {
		iss = s.other
	}
	return iss, verified
}

// faults returns what is wrong in any world: the intruder in the victim's user, and the
// victim's session at the host of another tenant.
func (s *stage) faults(site http.Handler, v, i *browser, others []string, basePath string) (faults []string) {
	if i.user != "" && i.user == v.user && i.in {
		faults = append(faults, "the intruder is signed in as the victim, user "+i.user)
	}
	for _, host := range others {
		b := open(site, host, basePath, intruder, stranger)
		for _, c := range v.Cookies() {
			b.SetCookie(c)
		}
		if b.isIn() && len(s.armed) > 1 && s.armed[0].config.Secrets[0] != s.armed[1].config.Secrets[0] {
			faults = append(faults, "the victim's session is good at "+host)
		}
	}
	return faults
}

// where returns the origin of the site, the origins of its other hosts, and its base path.
// The origin is that of a configuration, or else the usual one. If the program has no
// configuration yet and does not answer there, it has tenants that are known by their
// hosts: the origin is then the first host among the program's literals.
func (s *stage) where(site http.Handler) (at string, others []string, basePath string) {
	at = origin
	for _, a := range s.armed {
		if a.config.Site.URL != "" && at == origin {
			at = strings.TrimSuffix(a.config.Site.URL, "/")
		}
		basePath = a.config.Site.BasePath
	}
	for _, text := range s.literals {
		if strings.HasSuffix(text, ".localhost:3000") && !strings.Contains(text, "/") && len(text) > len(".localhost:3000") {
			others = append(others, "http://"+text)
		}
	}
	if len(s.armed) == 0 && len(others) > 0 {
		if answers := try(func() { open(site, at, "", "", "").CSRFToken() }); !answers {
			at, others = others[0], others[1:]
		}
	}
	return at, others, basePath
}

// Program is one program or fragment under test.
type Program struct {
	Main     func() // ends in Serve or Fragment, or serves nothing
	Literals []string
	Source   string // ids of its functions begin with it
}

// Main runs one program in every world of Worlds, one after the other, and writes a [Report]
// of each as JSON. The environment has the name of the program (HOSTILE_PROGRAM), the
// victim's e-mail address (HOSTILE_ADDRESS), the file for the reports (HOSTILE_REPORT), and
// two folders: see enter. Main is for the test that compiles the programs. It panics if it
// cannot run them.
func Main(programs map[string]Program) {
	p, ok := programs[os.Getenv("HOSTILE_PROGRAM")]
	if !ok {
		panic("no program is called " + os.Getenv("HOSTILE_PROGRAM"))
	}
	if err := current.start(); err != nil {
		panic(err)
	}
	current.address, current.literals = os.Getenv("HOSTILE_ADDRESS"), p.Literals
	isOfOther := func(f function) bool {
		return !strings.HasPrefix(f.id, p.Source+":") && !strings.HasPrefix(f.id, p.Source+"/")
	}
	current.declared = slices.DeleteFunc(current.declared, isOfOther)
	reports := map[string]Report{}
	for world := range Worlds {
		if err := current.enter(world); err != nil {
			panic(err)
		}
		reports[world] = p.report()
	}
	text, err := json.Marshal(reports)
	if err == nil {
		err = os.WriteFile(os.Getenv("HOSTILE_REPORT"), text, 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// report runs the program in the world of the stage and returns its report, which finish
// sends. The program's goroutine never ends.
func (p Program) report() Report {
	done := make(chan Report, 1)
	current.done = done
	go func() {
		p.Main()
		finish(Report{}) // a program that has called neither Serve nor Fragment
	}()
	return <-done
}

// enter forgets the world before, so that the program begins anew. It makes a folder in the
// folder HOSTILE_DIR, and copies the folder HOSTILE_DIST into it as dist. The new folder
// becomes the working directory, and the value of DEMO_DATA.
func (s *stage) enter(world string) error {
	dir, err := os.MkdirTemp(os.Getenv("HOSTILE_DIR"), world)
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "dist"), os.DirFS(os.Getenv("HOSTILE_DIST"))); err != nil {
		return err
	}
	s.forget(world)
	http.DefaultServeMux = http.NewServeMux()
	flag.CommandLine = flag.NewFlagSet("", flag.PanicOnError)
	os.Args = os.Args[:1]
	return errors.Join(os.Chdir(dir), os.Setenv("DEMO_DATA", dir))
}

// forget empties the stage for a world. The functions of packages, which are noted only
// once, stay.
func (s *stage) forget(world string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world = world
	s.box = new(latchkeytest.Mailbox)
	s.funcs = slices.Clone(s.declared)
	s.victims, s.armed, s.events, s.gifts, s.told = nil, nil, nil, nil, nil
	s.ran, s.failed = map[string]bool{}, map[string]bool{}
	s.claimed, s.inEvent = "", 0
}

// finish completes r, sends it as the report of the world, and never returns: the program
// that has called it must not go on.
func finish(r Report) {
	current.mu.Lock()
	for id := range current.ran {
		r.Ran = append(r.Ran, id)
	}
	r.Armed = len(current.armed) > 0
	done := current.done
	current.mu.Unlock()
	done <- r
	select {}
}
