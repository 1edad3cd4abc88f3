import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

export default defineConfig({
  plugins: [react()],
  define: { "process.env": {} }, // next-auth/react looks there for the URL of a server it renders on
  server: { proxy: { "/api": "http://localhost:3000" } }, // npm run dev, beside the Go program
})
