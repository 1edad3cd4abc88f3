import { sveltekit } from "@sveltejs/kit/vite"
import { defineConfig } from "vite"

// Latchkey's own client comes from the server, in a build and in development.
const latchkey = {
  name: "latchkey",
  enforce: "pre",
  resolveId: (id) => (id.startsWith("/auth/") ? { id, external: true } : null),
}

const program = "http://localhost:3000" // with npm run dev

export default defineConfig({
  plugins: [latchkey, sveltekit()],
  server: { proxy: { "/api": program, "/auth": program, "/signin": program } },
})
