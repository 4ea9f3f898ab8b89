/** Who may start the migration of trees, as the web interface names the roles (SPEC.md 4.3). */
export const migrationRoles = { project: '`Владелец проекта`', global: '`Администратор`' } as const
