import { headers } from "next/headers"
import { ask } from "../session.js"
import { Providers } from "./providers.jsx"

export default async function Layout({ children }) {
  const { session } = await ask((await headers()).get("cookie"))
  return (
    <html lang="en">
      <body>
        <Providers session={session}>{children}</Providers>
      </body>
    </html>
  )
}
