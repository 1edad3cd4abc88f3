// @auth/sveltekit/client signs in and out, and leaves the session to the server of
// SvelteKit. Here it comes from Latchkey's own client, which keeps all tabs in step.
import { onSession } from "/auth/client/latchkey.js"
import { readable } from "svelte/store"

export { updateSession } from "/auth/client/latchkey.js"

// session is undefined as long as nothing is known, and null for nobody.
export const session = readable(undefined, (set) => onSession(set))
