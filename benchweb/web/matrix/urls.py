"""Addresses: the matrix."""

from django.urls import path

from benchweb.web.matrix import views

urlpatterns = [
    path("matrix", views.matrix, name="matrix"),
    path("matrix.csv", views.matrix_csv_file, name="matrix_csv"),
    path("matrix.png", views.matrix_picture_file, name="matrix_picture"),
]
