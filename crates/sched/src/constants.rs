//! What the machine costs: built-in figures, or those of a calibration.

/// What the model knows of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {}

impl Default for Constants {
    fn default() -> Self {
        todo!()
    }
}
