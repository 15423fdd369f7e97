/** Where the connection of a node comes from. */
export interface NodePeer {
  readonly address: string;
  /** Whether a proxy named the address in a header: then it is not certain that the node is there. */
  readonly isForwarded: boolean;
}

/** The address of a node. */
export interface NodeAddress {
  /** For the record of the node. */
  readonly host: string;
  /** Whether gateways may call the node there. Otherwise they reach it only through the tunnel. */
  readonly isCallable: boolean;
}

/**
 * A node names any host that it likes, also one of an internal service. So it is called only at the address of its own
 * connection, or at a host that an admin allowed for it.
 */
export function nodeAddress(
  reported: string | null | undefined,
  allowed: readonly string[],
  peer: NodePeer,
): NodeAddress {
  const isAllowed =
    reported !== null &&
    reported !== undefined &&
    allowed.some((host) => host.toLowerCase() === reported.toLowerCase());
  if (isAllowed) return { host: reported, isCallable: true };
  return { host: peer.address, isCallable: !peer.isForwarded };
}
