// Makes and reads session tokens with Auth.js's own code. Takes one question a line on standard input, as
// JSON {"do", …}, and answers each with one line of JSON.
import { createInterface } from "node:readline"
import { Auth } from "@auth/core"
import { decode, encode, getToken } from "@auth/core/jwt"

const answers = {
  encode: ({ token, secret, salt, maxAge }) => encode({ token, secret, salt, maxAge }),
  // A token that cannot be opened is null, as it is for the session route.
  decode: ({ token, secrets, salt }) => decode({ token, secret: secrets, salt }).catch(() => null),
  getToken: ({ cookie, secrets, secure }) => getToken({ req: { headers: { cookie } }, secret: secrets, secureCookie: secure }),
  session: async ({ cookie, secrets }) => {
    const request = new Request("http://127.0.0.1/auth/session", { headers: { cookie } })
    const logger = { error() {}, warn() {} }
    const response = await Auth(request, { secret: secrets, trustHost: true, basePath: "/auth", providers: [], logger })
    return { body: await response.json(), cookies: response.headers.getSetCookie() }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line)
  console.log(JSON.stringify(await answers[question.do](question)))
}
