package hostile

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"reflect"
)

// Serve stands for the calls of a program under test that serve its site, such as
// http.ListenAndServe. The site is the last handler among server and args, or else
// http.DefaultServeMux. Serve plays the world on it and never returns.
func Serve(server any, args ...any) error {
	site := handlerOf(server)
	for _, arg := range args {
		if h := handlerOf(arg); h != nil {
			site = h
		}
	}
	if site == nil {
		site = http.DefaultServeMux
	}
	var r Report
	current.run(site, &r)
	finish(r)
	return nil
}

// handlerOf returns the handler in x; nil: there is none.
func handlerOf(x any) http.Handler {
	switch x := x.(type) {
	case nil:
		return nil
	case http.Handler:
		return x
	case *http.Server:
		return x.Handler
	}
	v := reflect.ValueOf(x)
	if server := v.Type(); server == reflect.TypeFor[http.Server]() {
		h, _ := v.FieldByName("Handler").Interface().(http.Handler)
		return h
	}
	if m := v.MethodByName("Listener"); m.IsValid() && m.Type().NumIn() > 0 && m.Type().In(0) == reflect.TypeFor[net.Listener]() {
		return behind(func(l net.Listener) { m.Call([]reflect.Value{reflect.ValueOf(l)}) })
	}
	return nil
}

// behind returns a handler that hands requests on to a framework that has its own server.
func behind(serve func(net.Listener)) http.Handler {
	l, err := Listen("", "")
	if err != nil {
		panic(err)
	}
	go serve(l)
	target := &url.URL{Scheme: "http", Host: l.Addr().String()}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
}
