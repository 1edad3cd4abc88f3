package sqladapter

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements are prepared once, when they are first used. There are as many as
// the store has, some forty, whatever is asked.
type statements struct {
	db   *sql.DB // nil: prepare none
	lock sync.RWMutex
	made map[string]*sql.Stmt
}

// get prepares a statement, or returns nil where none are prepared.
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
		go func() { _ = fresh.Close() }() // it waits for its connection, on which others may be busy
	}
	return made, nil
}

// keep is the one that everybody uses: the first.
func (s *statements) keep(statement string, fresh *sql.Stmt) *sql.Stmt {
	s.lock.Lock()
	defer s.lock.Unlock()
	if made := s.made[statement]; made != nil { // somebody else was faster
		return made
	}
	s.made[statement] = fresh
	return fresh
}

// peek prepares nothing: a transaction must not wait for another connection.
func (s *statements) peek(statement string) *sql.Stmt {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.made[statement]
}

func (s *statements) close() error {
	s.lock.Lock()
	all := s.made
	s.made = map[string]*sql.Stmt{}
	s.lock.Unlock()
	var errs []error
	for _, made := range all { // each waits for those who are busy with its connections
		errs = append(errs, made.Close())
	}
	return errors.Join(errs...)
}
