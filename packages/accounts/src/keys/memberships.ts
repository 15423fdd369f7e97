/** The memberships that keys depend on. */
export interface Memberships {
  isActiveMember(groupId: string, userId: string): Promise<boolean>;
}
