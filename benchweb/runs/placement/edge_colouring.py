"""Edge colouring: jobs are edges between vertices, a colour is a round, and no vertex has two edges of a colour. Pure.

Each edge takes the lowest colour that is free at its vertices. Where none is left it makes room by swapping the two
colours of a chain (Kempe; enough for every bipartite graph, by Kőnig's theorem), then by displacing a neighbour; last,
it takes a new colour. Colours of a vertex are bits of one integer, so that "free at both" is one operation.
"""

from collections.abc import Iterator, Sequence

# How many pairs of colours are tried for a chain, and how many neighbours are displaced in a row, before a new colour.
_CHAINS = 16
_DISPLACEMENTS = 24


def coloured(vertices: Sequence[tuple[int, ...]], order: Sequence[int], at_least: int) -> list[int]:
    """Return each edge's colour, counted from 0; `at_least` is how many colours there have to be in any case."""
    colouring = _Colouring(vertices, at_least)
    for edge in order:
        colouring.add(edge)
    return colouring.colour_of


class _Colouring:
    """Edges with colours so far; `used` has a bit per colour that a vertex has, `edge_at` the edge behind it."""

    def __init__(self, vertices: Sequence[tuple[int, ...]], colours: int) -> None:
        count = 1 + max((vertex for edge in vertices for vertex in edge), default=-1)
        self.vertices = vertices
        self.colour_of = [-1] * len(vertices)
        self._all = (1 << max(1, colours)) - 1
        self._used = [0] * count
        self._edge_at: list[dict[int, int]] = [{} for _ in range(count)]

    def add(self, edge: int) -> None:
        """Colour an edge, and others anew where that makes room for it."""
        for turn in range(_DISPLACEMENTS):
            if self._takes_free_colour(edge):
                return
            if len(self.vertices[edge]) != 2:
                break
            if self._takes_colour_of_chain(edge):
                return
            edge = self._displace_neighbour(edge, turn)
        while not self._takes_free_colour(edge):
            self._all = self._all << 1 | 1

    def _takes_free_colour(self, edge: int) -> bool:
        used = 0
        for vertex in self.vertices[edge]:
            used |= self._used[vertex]
        free = self._all & ~used
        if free:
            self._paint(edge, _lowest(free))
        return bool(free)

    def _takes_colour_of_chain(self, edge: int) -> bool:
        """Swap the colours of a chain from the edge's second vertex, so that both of its vertices lack one colour."""
        first, second = self.vertices[edge]
        choices = ((a, b) for b in self._free_at(second) for a in self._free_at(first))
        for _, (a, b) in zip(range(_CHAINS), choices, strict=False):
            chain = self._chain(second, a, b, avoid=first)
            if chain:
                for link in chain:
                    self._unpaint(link)
                for index, link in enumerate(chain):
                    self._paint(link, a if index % 2 else b)
                self._paint(edge, a)
                return True
        return False

    def _chain(self, vertex: int, a: int, b: int, avoid: int) -> list[int]:
        """Return the edges of colours a, b, a… from a vertex; empty if they lead to `avoid` or over a wide edge."""
        chain: list[int] = []
        colour = a
        while (edge := self._edge_at[vertex].get(colour)) is not None:
            if len(self.vertices[edge]) != 2:
                return []
            chain.append(edge)
            vertex = self._other_end(edge, vertex)
            colour = b if colour == a else a
        return [] if vertex == avoid else chain

    def _displace_neighbour(self, edge: int, turn: int) -> int:
        """Colour the edge with what one of its vertices lacks; return the edge that had it at the other vertex."""
        lacking, having = self.vertices[edge] if turn % 2 else self.vertices[edge][::-1]
        colours = list(self._free_at(lacking))
        if not colours:
            return edge
        # Another one each time, lest two edges displace each other for ever.
        colour = colours[turn // 2 % len(colours)]
        neighbour = self._edge_at[having][colour]
        if len(self.vertices[neighbour]) != 2:
            return edge
        self._unpaint(neighbour)
        self._paint(edge, colour)
        return neighbour

    def _free_at(self, vertex: int) -> Iterator[int]:
        free = self._all & ~self._used[vertex]
        while free:
            yield _lowest(free)
            free &= free - 1

    def _other_end(self, edge: int, vertex: int) -> int:
        first, second = self.vertices[edge]
        return second if first == vertex else first

    def _paint(self, edge: int, colour: int) -> None:
        self.colour_of[edge] = colour
        for vertex in self.vertices[edge]:
            self._used[vertex] |= 1 << colour
            self._edge_at[vertex][colour] = edge

    def _unpaint(self, edge: int) -> None:
        colour = self.colour_of[edge]
        for vertex in self.vertices[edge]:
            self._used[vertex] &= ~(1 << colour)
            del self._edge_at[vertex][colour]


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
