"""Addresses: users, invitations, teams and their roles."""

from django.urls import path

from benchweb.web.users import invitation_views, service_views, team_views, views

urlpatterns = [
    path("users", views.user_list, name="users"),
    path("users/new", invitation_views.user_new, name="user_new"),
    path("users/services", service_views.service_list, name="services"),
    path("users/<int:user_id>", views.user_page, name="user"),
    path("users/<int:user_id>/roles", views.user_role, name="user_role"),
    path("users/<int:user_id>/teams", views.user_team, name="user_team"),
    path("users/<int:user_id>/link", invitation_views.user_link, name="user_link"),
    path("users/<int:user_id>/deactivate", views.user_deactivate, name="user_deactivate"),
    path("users/<int:user_id>/activate", views.user_activate, name="user_activate"),
    path("roles/<int:grant_id>/take", views.role_take, name="role_take"),
    path("invitations", invitation_views.invitation_list, name="invitations"),
    path("invitations/new", invitation_views.invitation_new, name="invitation_new"),
    path("invitations/<int:invitation_id>/end", invitation_views.invitation_end, name="invitation_end"),
    path("teams", team_views.team_list, name="teams"),
    *team_views.TeamFormPages().paths(),
    path("teams/<int:team_id>", team_views.team_page, name="team"),
    path("teams/<int:team_id>/roles", team_views.team_role, name="team_role"),
    path("teams/<int:team_id>/members", team_views.team_member_add, name="team_member_add"),
    path("teams/<int:team_id>/members/<int:user_id>", team_views.team_member_remove, name="team_member_remove"),
    path("teams/<int:team_id>/delete", team_views.team_delete, name="team_delete"),
]
