// The Go program. A build keeps it.
const server = process.env.AUTH_SERVER ?? "http://localhost:8080"

export default {
  env: { AUTH_SERVER: server },
  rewrites: () => [{ source: "/api/auth/:path*", destination: `${server}/api/auth/:path*` }],
}
