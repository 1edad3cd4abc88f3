// As the README of auth-astro says. 4.2.0 knows Astro up to 5.
import node from "@astrojs/node"
import auth from "auth-astro"
import { defineConfig } from "astro/config"

export default defineConfig({
  output: "server",
  adapter: node({ mode: "middleware" }),
  integrations: [auth()],
  security: { allowedDomains: [{ hostname: "127.0.0.1" }] }, // whose Host Astro believes
  outDir: ".dist",
  devToolbar: { enabled: false },
})
