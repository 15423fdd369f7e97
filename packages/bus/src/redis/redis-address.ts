/** The address of one server. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}
