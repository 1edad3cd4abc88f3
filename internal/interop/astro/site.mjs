// Serves what `astro build` has made. Run: node site.mjs. Prints {"url"} when it listens, and ends with its standard input.
import { createServer } from "node:http"
import { handler } from "./.dist/server/entry.mjs"

const server = createServer(handler)
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
process.stdin.resume().on("end", () => process.exit())
