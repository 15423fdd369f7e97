-- CreateIndex
CREATE INDEX "groups_created_at_id_idx" ON "groups"("created_at", "id");

-- CreateIndex
CREATE INDEX "group_members_group_id_joined_at_user_id_idx" ON "group_members"("group_id", "joined_at", "user_id");

-- CreateIndex
CREATE INDEX "providers_name_id_idx" ON "providers"("name", "id");

-- CreateIndex
CREATE INDEX "agent_nodes_name_created_at_id_idx" ON "agent_nodes"("name", "created_at", "id");
