package cache

// chain is a linked list of entries in the order of their arrival. The links are
// part of the entries, so that a chain allocates nothing.
type chain[E any] struct {
	oldest, newest *link[E]
	length         int
}

// link is the place of one entry in a chain.
type link[E any] struct {
	of           E
	older, newer *link[E]
}

// push adds l as the newest entry. l must be in no chain.
func (c *chain[E]) push(l *link[E]) {
	c.length++
	if l.older = c.newest; l.older != nil {
		l.older.newer = l
	} else {
		c.oldest = l
	}
	c.newest = l
}

// remove takes l out. l must be in the chain.
func (c *chain[E]) remove(l *link[E]) {
	c.length--
	if l.older != nil {
		l.older.newer = l.newer
	} else {
		c.oldest = l.newer
	}
	if l.newer != nil {
		l.newer.older = l.older
	} else {
		c.newest = l.older
	}
	l.older, l.newer = nil, nil
}

// owners is an index of entries by their owner.
type owners[O comparable, E any] map[O]*chain[E]

// add adds l as the newest entry of owner. l must be in no chain.
func (o owners[O, E]) add(owner O, l *link[E]) {
	all := o[owner]
	if all == nil {
		all = &chain[E]{}
		o[owner] = all
	}
	all.push(l)
}

// remove takes l from the chain of owner, which must hold l. It forgets an owner that has
// no entries left.
func (o owners[O, E]) remove(owner O, l *link[E]) {
	all := o[owner]
	if all.remove(l); all.length == 0 {
		delete(o, owner)
	}
}
