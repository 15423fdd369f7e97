-- AlterTable
ALTER TABLE "group_invitations" ADD COLUMN     "removed_user_ids" UUID[] DEFAULT ARRAY[]::UUID[];
