package profile

// BattleNet is what Battle.net says about a person.
type BattleNet struct {
	Standard
	BattleTag string `json:"battle_tag"`
}
