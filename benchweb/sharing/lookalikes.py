"""Letters and signs of other scripts that look like those of ASCII.

The usual ones of Unicode's UTS 39 (https://www.unicode.org/Public/security/latest/confusables.txt). Those that only
differ by width, style or a circle aren't here: compatibility decomposition finds them. Nor are pairs within ASCII, as
1 and l: host1 and hostl are two names.
"""

# Capitals by themselves: Н looks like H and its small letter like nothing, Ν looks like N and its small letter like v.
_CAPITALS = {
    "A": "ΑАᎪꓮ", "B": "ΒВᏴꓐ", "C": "СᏟꓚϹ", "D": "Ꭰꓓꭰᗞᗪ", "E": "ΕЕᎬꓰ", "F": "ϜꓝᖴԲ", "G": "ԌᏀꓖ", "H": "ΗНᎻꓧ",
    "I": "ΙІӀꓲᏆ", "J": "ЈͿᎫꓙ", "K": "ΚКᏦꓗ", "L": "ᏞꓡᒪԼ", "M": "ΜМᎷꓟϺ", "N": "Νꓠ", "O": "ΟОՕꓳ", "P": "ΡРᏢꓑ",
    "Q": "Ԛ", "R": "ᎡᏒꓣ", "S": "ЅՏᏚꓢ", "T": "ΤТᎢꓔ", "U": "Սꓴ", "V": "ѴᏙꓦ", "W": "ԜᎳꓪ", "X": "ΧХꓫ", "Y": "ΥҮᎩꓬ",
    "Z": "ΖᏃꓜ",
}  # fmt: skip
_SMALL = {
    "a": "аαɑ", "b": "ЬьƄβв", "c": "сϲᴄⲥ", "d": "ԁɗ", "e": "еєҽεℯ", "f": "ꞙẝ", "g": "ɡցġ", "h": "һհн", "i": "іιıɩӏ",
    "j": "јϳյ", "k": "кκᴋ", "l": "ⅼǀ", "m": "мᴍ", "n": "ոռп", "o": "оοօσᴏⲟ", "p": "рρⲣ", "q": "ԛգզ", "r": "гᴦⲅ",
    "s": "ѕꜱ", "t": "тτᴛ", "u": "υսʋᴜц", "v": "ѵνᴠ", "w": "ԝաѡωᴡ", "x": "хχ", "y": "уγүʏყ", "z": "ζᴢ",
    "-": "‐‑‒–—―−⁃˗ー", "'": "‘’ʼʹ′", ".": "․", "/": "⁄∕", ":": "꞉∶ː", "_": "ߺ",
}  # fmt: skip

CAPITALS = str.maketrans({other: letter for letter, others in _CAPITALS.items() for other in others})
SMALL = str.maketrans({other: letter for letter, others in _SMALL.items() for other in others})
