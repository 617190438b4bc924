//! What a browser shows.

/// One line of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// A number that no other row of the source has.
    pub id: u64,
    /// The name.
    pub name: String,
    /// The size by which rows are sorted and bars are drawn.
    pub bytes: u128,
    /// The size for people.
    pub size: String,
    /// What else is known, such as the number of files.
    pub note: String,
    /// Whether the row has rows of its own.
    pub opens: bool,
}

/// How much is marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// The number of marked rows.
    pub rows: u64,
    /// Their size for people.
    pub size: String,
}

/// What would be done with the marked rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// A line for each row concerned.
    pub lines: Vec<String>,
    /// The words that carry it out; none if nothing can be done.
    pub words: Vec<Word>,
}

/// A word that carries out a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word that must be typed.
    pub word: &'static str,
    /// What it does.
    pub what: String,
}

/// Has the rows of a browser, and knows which are marked.
pub trait Source {
    /// Returns the rows in a row; those of the outermost list for `None`.
    ///
    /// # Errors
    /// The reason why they cannot be shown.
    fn rows(&mut self, of: Option<u64>) -> Result<Vec<Row>, String>;

    /// Returns whether a row is marked.
    fn is_marked(&self, id: u64) -> bool;

    /// Marks a row, or takes its mark away.
    ///
    /// # Errors
    /// The reason why it cannot be marked.
    fn mark(&mut self, id: u64) -> Result<(), String>;

    /// Returns how much is marked.
    fn marked(&self) -> Total;

    /// Returns the plan for the marked rows.
    fn plan(&mut self) -> Plan;
}
