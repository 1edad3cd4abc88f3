package limit

import "net/netip"

// narrowly returns the text that the events of a client are counted under. That is its
// IPv4 address, or its IPv6 network of 64 bits, because one subscriber can use all
// addresses in such a network. It returns text that is no IP address as it is.
func narrowly(client string) string { return network(client, 64) }

// widely returns the network by which memory is shared out among clients. That is the IPv4
// address of client, or its IPv6 network of 48 bits, because a rented server may have such
// a network. It returns text that is no IP address as it is.
func widely(client string) string { return network(client, 48) }

// network returns the IPv4 address of client, or its IPv6 network of bits bits, without a
// zone. For an address behind NAT64 it returns the IPv4 address if it knows it (see
// translated), and the whole address with a local prefix (see localNAT64). It returns
// text that is no IP address as it is.
func network(client string, bits int) string {
	addr, err := netip.ParseAddr(client)
	if err != nil {
		return client
	}
	addr = translated(addr).WithZone("")
	if addr.Is4() || localNAT64().Contains(addr) {
		return addr.String()
	}
	prefix, _ := addr.Prefix(bits) // fits every IPv6 address
	return prefix.String()
}

// translated returns the IPv4 address that an IPv6 address stands for, or addr if it
// stands for none. An IPv6 address stands for an IPv4 address that it maps (RFC 4291,
// section 2.5.5.2), or for one behind NAT64 with the well-known prefix (RFC 6052, section
// 2.1). All of IPv4 is in that one prefix, so that prefix must not count as one network.
func translated(addr netip.Addr) netip.Addr {
	if raw := addr.As16(); wellKnownNAT64().Contains(addr) {
		return netip.AddrFrom4([4]byte(raw[12:]))
	}
	return addr.Unmap()
}

// wellKnownNAT64 returns 64:ff9b::/96 (RFC 6052, section 2.1).
func wellKnownNAT64() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b}), 96)
}

// localNAT64 returns the prefix for translation within one network (RFC 8215). Each
// network chooses which bits of such an address are the IPv4 address. So each address
// with the prefix counts by itself. A client cannot choose among them: the translator
// does.
func localNAT64() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 0, 1}), 48)
}
