import { sveltekit } from "@sveltejs/kit/vite"
import { defineConfig } from "vite"

export default defineConfig({
  plugins: [sveltekit()],
  build: { rollupOptions: { external: /^\/auth\// } }, // Latchkey's own client comes from the server
  server: { proxy: { "/api": "http://localhost:3000", "/auth": "http://localhost:3000", "/signin": "http://localhost:3000" } }, // npm run dev
})
