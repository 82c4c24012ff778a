/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layouts of a mail's body that are not plain lines: HTML and format=flowed. */
#ifndef PARSERS_TABLES_LAYOUT_H
#define PARSERS_TABLES_LAYOUT_H

#include "parsers/tables/tables.h"

typedef ARRAY_OF(struct table_line) line_array;

/*
 * The text of an HTML body: rows of tables are lines, cells stand between wide gaps, <pre> keeps its
 * lines and blanks, entities are characters. Lines keep the number of their first character.
 */
void layout_html(struct arena *a, const struct table_line *in, size_t n, line_array *out);
/* Whether a paste is HTML: it begins as such, or has rows of a table. */
bool layout_is_html(const line_array *in);

/*
 * RFC 3676: lines that end in a blank go on in the next one of the same quote depth. Only where the
 * next word did not fit: many write tables with blanks at the ends of short lines.
 */
void layout_flowed(struct arena *a, bool delsp, line_array *lines, size_t from);

/*
 * What a paste was put into: blanks before every line, "```" around it, an empty line after every
 * line. Not for mails, whose lines are as they were sent.
 */
void layout_straighten(line_array *lines);
/*
 * Takes "|" off lines where it is a quote mark: a quarter of the lines between two empty ones or
 * more begin with "| ", and no other bar is in any of them, as a table that is drawn with them has.
 * unquote takes the blank and the marks within that.
 */
void layout_unbar(line_array *lines, void (*unquote)(struct table_line *line));
/* "1.42 %" is "1.42%", as other languages write it; in place, returns the new length. */
size_t layout_percents(char *s, size_t len);

#endif
