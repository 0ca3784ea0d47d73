"""Addresses: what a host's script downloads and asks for; none of them needs a log-in."""

from django.urls import path

from benchweb.web.install import views

urlpatterns = [
    path("install/engine.sh", views.install_script, name="install_script"),
    path("install/engine/<str:architecture>", views.install_program, name="install_program"),
    path("install/claim", views.install_claim, name="install_claim"),
    path("install/ready", views.install_ready, name="install_ready"),
]
