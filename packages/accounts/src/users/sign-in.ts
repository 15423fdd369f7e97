/** What an access token or a socket depends on: the user and the sign-in that the token came from. */
export interface SignIn {
  readonly userId: string;
  /** The family of refresh tokens; undefined for an access token of an earlier version of the service. */
  readonly familyId: string | undefined;
}
