"""Addresses: the matrix."""

from django.urls import path

from benchweb.web.matrix import targets, views

urlpatterns = [
    path("matrix", views.matrix, name="matrix"),
    path("matrix/targets", targets.matrix_target_add, name="matrix_target_add"),
    path("matrix/targets/<int:threshold_id>", targets.matrix_target_remove, name="matrix_target"),
    path("matrix.csv", views.matrix_csv_file, name="matrix_csv"),
    path("matrix.png", views.matrix_picture_file, name="matrix_picture"),
]
