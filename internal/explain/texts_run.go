package explain

import "github.com/latchkeyhq/latchkey/fault"

// runTexts explains sessions, stores and functions of the application.
var runTexts = []Text{
	{150, fault.SessionInvalid, Operator, "A session token could not be read or made.", []string{"`Callbacks.Token` or `JWT.Decode` failed.", "The claims hold what is no JSON."}, "Read the cause in the log."},
	{151, fault.SessionUnknownKey, Operator, "A session is sealed under a secret that is not configured.", []string{"Two instances have different secrets.", "The old secret was removed too early."}, "Give all instances the same secrets, and keep the old one until its sessions are over."},
	{152, fault.SessionFailed, Operator, "A stored session could not be read or extended.", []string{"The store failed or refused."}, "Read the cause in the log. Nobody was signed out."},
	{153, fault.SessionTenant, Developer, "A stored session names no tenant.", []string{"The Adapter does not keep `StoredSession.Tenant`."}, "Add the column `tenant`, or use an Adapter that keeps it."},
	{154, fault.SessionNotEnded, Operator, "A session could not be ended in the store.", []string{"The store is down."}, "Mend the store. The library tries again for a quarter of an hour."},
	{155, fault.StoreAway, Operator, "The store does not answer for now.", []string{"The database is restarting, or accepts no more connections.", "The network is cut.", replicaCause}, "Look at the database. It passes when the store is back, and nobody was signed out."},
	{156, fault.StoreSlow, Operator, "A call of the store took too long.", []string{"The database is overloaded, or a table is locked."}, "Look at slow queries and locks. The limit is `Limits.StoreTimeout`."},
	{157, fault.StoreSchema, Operator, "The tables are not those that the adapter needs.", []string{"A migration was not run after an upgrade.", "The database is new, or `DATABASE_URL` names another one than you think."}, "Run `latchkey migrate`, if it is the right database."},
	{158, fault.StoreFailed, Operator, "The store refused a call.", []string{"The database user lacks a right.", "The password of the database is wrong."}, "Read the cause in the log."},
	{159, fault.StoreAnswer, Developer, "The store answered another question than it was asked.", []string{"The Adapter has a fault, or reads from a replica that is behind."}, "Run the suite of `latchkeytest/storagetest` against the Adapter."},
	{160, fault.LimitStore, Operator, "The shared limiter did not answer in time.", []string{"Its store is down or slow. Limits count in memory meanwhile."}, "Look at the store of `Limits.Limiter`."},
	{161, fault.ReplayFull, Operator, "There is no room to remember used values.", []string{"There are very many sign-ins at once, or an attack."}, "Set `Limits.Replay` to a shared store."},
	{162, fault.CallbackPanic, Developer, "A function of the application, or an adapter, panicked.", []string{"The stack is in the log."}, "Correct the function."},
	{163, fault.CallbackSlow, Developer, "A function of the application did not return in time.", []string{"It waits for a service that is slow."}, "Let it watch its context. The limit is `Limits.CallbackTimeout`."},
	{164, fault.CallbackFailed, Developer, "A function of the application failed.", []string{"The log has its error."}, "Correct the function."},
	{165, fault.EventFailed, Developer, "A function of `Config.Events` failed.", []string{"The log has its error and the name of the event."}, "Correct the function. The work that it was told of is done."},
	{166, fault.AuditStore, Operator, "An event could not be kept in the audit log.", []string{"The table `audit_events` is missing, read-only or full."}, "Run `latchkey migrate`, and grant the database user INSERT on `audit_events`."},
	{167, fault.AnswerLost, Operator, "What followed an answer could not be done.", []string{"The store failed while an attempt was taken back."}, "Read the cause in the log."},
	{199, fault.Other, Developer, "A failure without a name of its own.", []string{"The log has the cause."}, "Read the cause in the log."},
}
