/** Who belongs to which group, as far as keys need to know. */
export interface Memberships {
  isActiveMember(groupId: string, userId: string): Promise<boolean>;
}
