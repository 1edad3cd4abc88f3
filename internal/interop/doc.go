// Package interop holds tests of Latchkey against programs that others wrote:
//
//   - authjs: Auth.js, whose tokens, cookies, passkeys and browser clients are ours, too;
//     those of SvelteKit and SolidStart, and next-auth/webauthn, run in Chromium; both sites
//     share a database; an API of examples reads its sessions; the site of docs/moving-from-authjs.md runs before and after its move;
//     the definitions of its providers are compared with ours; sites of Express and Hono move
//   - astro: a site of Astro with auth-astro, which moves, too
//   - the apps of examples/react and examples/sveltekit, which are built with Vite and
//     driven in Chromium, and that of examples/nextjs, built with Next.js
//   - typescript: the compiler, which reads the types of our browser client
//   - openid: a certified OpenID Provider on Node.js
//   - the example provider of zitadel/oidc, in the test's own process
//   - go-webauthn, which judges the virtual authenticator of latchkeytest
//   - vectors: not a test; it makes the tokens that package jwt is tested with
//
// The Node.js programs need node and npm. Without them, or without Chromium, a
// test is skipped, with the cure in its message; LATCHKEY_REQUIRE_SERVERS=1 makes it fail.
package interop
