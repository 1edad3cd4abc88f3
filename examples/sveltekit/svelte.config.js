import adapter from "@sveltejs/adapter-static"

// One page for all paths: the Go program serves it, and the rest happens in the browser.
export default { kit: { adapter: adapter({ pages: "dist", assets: "dist", fallback: "index.html" }) } }
