//! Text in columns.

/// Rows of cells, the first row being the heading.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this heading.
    pub fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![heading.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub fn push<S: Into<String>>(&mut self, row: impl IntoIterator<Item = S>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// The lines: the first column to the left, figures to the right.
    pub fn lines(&self) -> Vec<String> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..count)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        self.rows.iter().map(|row| line(row, &widths)).collect()
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, (cell, &width)) in row.iter().zip(widths).enumerate() {
        let padding = " ".repeat(width - cell.chars().count());
        let gap = if index == 0 { "" } else { "   " };
        let padded =
            if index == 0 { format!("{cell}{padding}") } else { format!("{padding}{cell}") };
        text.push_str(gap);
        text.push_str(&padded);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn names_stand_left_and_figures_right() {
        let mut table = Table::new(["metric", "median"]);
        table.push(["Latency", "12.5 µs"]);
        table.push(["Rate", "9 k"]);
        assert_eq!(table.lines(), ["metric     median", "Latency   12.5 µs", "Rate          9 k"]);
    }
}
