package sqladapter

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements prepares each statement of a store once, when it is first used. A
// store has about forty.
type statements struct {
	db   *sql.DB // nil: prepare none
	lock sync.RWMutex
	made map[string]*sql.Stmt
}

// get returns a prepared statement, and prepares it if it is not prepared yet. If s.db is
// nil, get prepares nothing, and returns nil and no error. The caller does not close the
// statement.
func (s *statements) get(ctx context.Context, statement string) (*sql.Stmt, error) {
	if s.db == nil {
		return nil, nil
	}
	if made := s.peek(statement); made != nil {
		return made, nil
	}
	fresh, err := s.db.PrepareContext(ctx, statement) // unlocked: it may wait for a connection
	if err != nil {
		return nil, err
	}
	made := s.keep(statement, fresh)
	if made != fresh {
		go func() { _ = fresh.Close() }() // it waits for its connection, which may be in use
	}
	return made, nil
}

// keep stores fresh, a prepared statement, and returns it. If another one is stored for
// the statement already, keep returns that one and stores nothing; the caller then closes
// fresh.
func (s *statements) keep(statement string, fresh *sql.Stmt) *sql.Stmt {
	s.lock.Lock()
	defer s.lock.Unlock()
	if made := s.made[statement]; made != nil { // another caller was faster
		return made
	}
	s.made[statement] = fresh
	return fresh
}

// peek returns a statement that is prepared already, or nil. It prepares nothing: a
// transaction must not wait for another connection.
func (s *statements) peek(statement string) *sql.Stmt {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.made[statement]
}

// close closes all prepared statements, and waits for calls that use them. It returns the
// errors of all, joined. A statement that is used later is prepared again.
func (s *statements) close() error {
	s.lock.Lock()
	all := s.made
	s.made = map[string]*sql.Stmt{}
	s.lock.Unlock()
	var errs []error
	for _, made := range all { // each Close waits for the callers that use its connections
		errs = append(errs, made.Close())
	}
	return errors.Join(errs...)
}
