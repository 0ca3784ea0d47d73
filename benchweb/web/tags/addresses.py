"""Addresses that are kept or written without the path that the site has of its host."""

from django import template

from benchweb.common import addresses

register = template.Library()
register.filter("site_path", addresses.site_path)
register.simple_tag(lambda: addresses.site_path(""), name="base_path")
