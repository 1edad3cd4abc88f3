// Opens tokens with Auth.js' own code: the counterpart of make.mjs. Reads lines of
// {"token","secrets","salt"} and writes the claims of each, or null, one line each.
import { createInterface } from "node:readline"
import { decode } from "@auth/core/jwt"

for await (const line of createInterface({ input: process.stdin })) {
  const { token, secrets, salt } = JSON.parse(line)
  const claims = await decode({ token, secret: secrets, salt }).catch(() => null)
  console.log(JSON.stringify(claims))
}
