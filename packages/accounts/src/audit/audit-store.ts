/** Who made a change: a user, the admin token, a reset link, or the identity provider. */
export interface AuditActor {
  readonly kind: 'user' | 'admin-token' | 'reset-link' | 'provider';
  readonly userId: string | null;
}

/** A change to record. */
export interface NewAuditEntry {
  readonly actor: AuditActor;
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly clientIp: string;
  readonly requestId: string;
}

/** A recorded change. */
export interface AuditEntry extends NewAuditEntry {
  /** The number of the entry; there are no gaps. */
  readonly seq: number;
  readonly at: Date;
  /** As it is now; null when the account is gone. */
  readonly actorEmail: string | null;
  readonly previousHash: string;
  readonly hash: string;
}

export interface AuditQuery {
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
  readonly beforeSeq?: number | undefined;
  readonly countMax: number;
}

/** The changes by admins, owners and the admin token. Entries are never changed or removed. */
export interface AuditStore {
  /** Adds an entry to the end of the chain, in the transaction of the change if there is one. */
  append(entry: NewAuditEntry): Promise<void>;
  /** The newest first. */
  list(query: AuditQuery): Promise<readonly AuditEntry[]>;
  /** The entries after one, the oldest first. */
  read(query: {
    readonly afterSeq: number;
    readonly from?: Date | undefined;
    readonly to?: Date | undefined;
    readonly countMax: number;
  }): Promise<readonly AuditEntry[]>;
}
