package limit

import "net/netip"

// narrowly returns what the events of a client are counted under: its IPv4
// address, or the IPv6 network of one subscriber, who can use all of its
// addresses. Text that is no IP address is returned as it is.
func narrowly(client string) string { return network(client, 64) }

// widely returns the network that a client may have many subscriber's networks in,
// as a rented server has. Memory is shared out by it.
func widely(client string) string { return network(client, 48) }

// network returns the network of bits bits that an IPv6 client is in.
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

// translated returns the IPv4 address that an IPv6 address stands for: one that is
// mapped (RFC 4291, section 2.5.5.2), or one behind NAT64 with the well-known
// prefix (RFC 6052, section 2.1). All of IPv4 is in that one prefix.
func translated(addr netip.Addr) netip.Addr {
	if raw := addr.As16(); wellKnownNAT64().Contains(addr) {
		return netip.AddrFrom4([4]byte(raw[12:]))
	}
	return addr.Unmap()
}

func wellKnownNAT64() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b}), 96)
}

// localNAT64 is the prefix for translation within one network (RFC 8215). Where the
// IPv4 address stands in it is the network's own choice, so each address counts:
// the translator chooses them, and no client can.
func localNAT64() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 0, 1}), 48)
}
