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
	s.lock.Lock()
	defer s.lock.Unlock()
	if made := s.made[statement]; made != nil { // somebody else was faster
		_ = fresh.Close()
		return made, nil
	}
	s.made[statement] = fresh
	return fresh, nil
}

// peek prepares nothing: a transaction must not wait for another connection.
func (s *statements) peek(statement string) *sql.Stmt {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.made[statement]
}

func (s *statements) close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	var errs []error
	for statement, made := range s.made {
		errs = append(errs, made.Close())
		delete(s.made, statement)
	}
	return errors.Join(errs...)
}
