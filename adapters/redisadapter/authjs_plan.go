package redisadapter

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// plan is a change of several keys, with the values that it was decided by. It is
// carried out whole, or not at all if one of these values has changed.
type plan struct {
	Want   [][2]any    `json:"want,omitempty"` // key and text, or false if the key must have no value
	Owns   [][2]any    `json:"owns,omitempty"` // set and all of its members
	Set    [][3]any    `json:"set,omitempty"`  // key, text, life in milliseconds or 0
	Delete []string    `json:"delete,omitempty"`
	Add    [][2]string `json:"add,omitempty"` // set and member
	Remove [][2]string `json:"remove,omitempty"`
}

// apply carries out a plan, whole or not at all. It returns 1 if it did, otherwise 0.
var apply = redis.NewScript(`
local plan = cjson.decode(ARGV[1])
for _, w in ipairs(plan.want or {}) do
	if redis.call('GET', w[1]) ~= w[2] then return 0 end
end
for _, o in ipairs(plan.owns or {}) do
	if redis.call('SCARD', o[1]) ~= #o[2] then return 0 end
	for _, m in ipairs(o[2]) do
		if redis.call('SISMEMBER', o[1], m) == 0 then return 0 end
	end
end
for _, s in ipairs(plan.set or {}) do
	if s[3] == 0 then redis.call('SET', s[1], s[2]) else redis.call('SET', s[1], s[2], 'PX', s[3]) end
end
for _, k in ipairs(plan.delete or {}) do redis.call('DEL', k) end
for _, m in ipairs(plan.add or {}) do redis.call('SADD', m[1], m[2]) end
for _, m in ipairs(plan.remove or {}) do redis.call('SREM', m[1], m[2]) end
return 1
`)

// keys returns every key that the script of the plan reads or writes, each once. Some
// servers refuse a script that uses a key that was not named.
func (p *plan) keys() (all []string) {
	for _, w := range p.Want {
		all = append(all, w[0].(string))
	}
	for _, o := range p.Owns {
		all = append(all, o[0].(string))
	}
	for _, s := range p.Set {
		all = append(all, s[0].(string))
	}
	for _, pair := range slices.Concat(p.Add, p.Remove) {
		all = append(all, pair[0])
	}
	all = append(all, p.Delete...)
	slices.Sort(all)
	return slices.Compact(all)
}

// want makes the plan depend on the value of a key. If text is nil, the key must have no
// value.
func (p *plan) want(key string, text *string) {
	if text == nil {
		p.Want = append(p.Want, [2]any{key, false})
		return
	}
	p.Want = append(p.Want, [2]any{key, *text})
}

// set plans to write a text under a key, without an expiry.
func (p *plan) set(key, text string) { p.Set = append(p.Set, [3]any{key, text, 0}) }

// setUntil plans to write a text under a key. The key lives until a day after expires,
// or for a day if that instant has passed. Auth.js keeps for ever what has expired.
func (p *plan) setUntil(key, text string, expires time.Time) {
	left := max(time.Until(expires), 0) + 24*time.Hour
	p.Set = append(p.Set, [3]any{key, text, left.Milliseconds()})
}
