//! Who turns texts into vectors, and the form in which vectors are kept and compared.
//!
//! Texts enter an [`Embedder`], vectors leave. A kept vector is a row of bytes with the inverse of its
//! length: an eighth of a percent of error for a quarter of the space, and whole numbers that the
//! compiler multiplies many at a time. All vectors are kept so, whether they were just computed or read
//! from the index, so that an index never changes an answer.

/// Why texts have no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct EmbedError {
    /// What failed, on what, why.
    pub problem: String,
    /// What to do next.
    pub hint: String,
    /// The same may succeed later.
    pub passing: bool,
}

/// What gives a text a vector, such that texts of like meaning have like directions.
pub trait Embedder: Send {
    /// A name that no embedder with other vectors bears: model, dimensions, version. Vectors of
    /// different stamps are never compared.
    fn stamp(&self) -> String;

    /// Length of its vectors. Of one behind a server this and the stamp are settled once it has given
    /// a vector.
    fn dimensions(&self) -> usize;

    /// A vector for each text, of any length but the number of dimensions; all zeros where the text
    /// says nothing to it.
    ///
    /// # Errors
    ///
    /// Where it cannot be reached or refuses. The built-in one never fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector of a question, which some models want put otherwise than a text.
    ///
    /// # Errors
    ///
    /// As [`Embedder::embed`].
    fn embed_question(&self, question: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(&[question])?.pop().unwrap_or_default())
    }

    /// The cosine that a question and a text have which have nothing to do with each other, from 0 to
    /// less than 1: what is taken off, so that a likeness means the same with every embedder.
    fn unrelated(&self) -> f32 {
        0.0
    }

    /// Whether a vector costs time or money, so that each is kept.
    fn is_served(&self) -> bool {
        false
    }

    /// Whether the embedded model answers where this one fails.
    fn falls_back(&self) -> bool {
        false
    }

    /// Is told how many of how many texts have vectors, while those of a whole file are made.
    fn report(&self, _done: usize, _all: usize) {}
}

/// Kept vectors of one embedder, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    dimensions: usize,
    rows: Vec<u8>,
    inverse_lengths: Vec<f32>,
}

impl Vectors {
    /// None yet, of that many dimensions.
    pub fn new(dimensions: usize) -> Vectors {
        Vectors { dimensions, rows: Vec::new(), inverse_lengths: Vec::new() }
    }

    /// Vectors out of their kept form: rows of bytes and the inverse of their lengths.
    pub(super) fn from_parts(dimensions: usize, rows: Vec<u8>, inverse_lengths: Vec<f32>) -> Vectors {
        Vectors { dimensions, rows, inverse_lengths }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.inverse_lengths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inverse_lengths.is_empty()
    }

    /// Rows of bytes, and the inverse of their lengths.
    pub(super) fn parts(&self) -> (&[u8], &[f32]) {
        (&self.rows, &self.inverse_lengths)
    }

    /// Adds a vector.
    pub fn push(&mut self, vector: &[f32]) {
        debug_assert_eq!(vector.len(), self.dimensions);
        let most = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let factor = if most > 0.0 && most.is_finite() { 127.0 / most } else { 0.0 };
        let mut squares = 0.0_f32;
        self.rows.extend(vector.iter().map(|value| {
            let byte = (value * factor).round() as i8;
            squares += f32::from(byte) * f32::from(byte);
            byte as u8
        }));
        self.inverse_lengths.push(if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 });
    }

    /// Adds a vector that others keep already.
    pub(super) fn push_row(&mut self, row: &[u8], inverse_length: f32) {
        self.rows.extend_from_slice(row);
        self.inverse_lengths.push(inverse_length);
    }

    /// The cosine of one vector with another.
    pub fn cosine(&self, number: usize, with: &QueryVector) -> f32 {
        let row = &self.rows[number * self.dimensions..(number + 1) * self.dimensions];
        with.dot(row) * self.inverse_lengths[number]
    }

    /// The cosine of each vector with one, by -1 to 1; 0 where one of the two is all zeros.
    pub fn cosines(&self, with: &QueryVector) -> Vec<f32> {
        let rows = self.rows.chunks_exact(self.dimensions.max(1));
        rows.zip(&self.inverse_lengths).map(|(row, inverse)| with.dot(row) * inverse).collect()
    }
}

/// A vector that is compared with many: of length 1, in steps of a thirty-thousandth;
/// coarser beyond 512 dimensions, so that sums fit.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryVector {
    values: Vec<i16>,
    factor: f32,
}

impl QueryVector {
    /// The needle in the direction of a vector.
    pub fn new(vector: &[f32]) -> QueryVector {
        let most = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        // As fine as sums of products with bytes stay within 32 bits.
        let steps = (i32::MAX as usize / 128 / vector.len().max(1)).min(32_767) as f32;
        let factor = if most > 0.0 && most.is_finite() { steps / most } else { 0.0 };
        let values: Vec<i16> = vector.iter().map(|value| (value * factor).round() as i16).collect();
        let squares: f64 = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
        let factor = if squares > 0.0 { (1.0 / squares.sqrt()) as f32 } else { 0.0 };
        QueryVector { values, factor }
    }

    /// Whether it has a direction at all.
    pub fn is_zero(&self) -> bool {
        self.factor == 0.0
    }

    /// The product with a row of bytes.
    #[inline]
    pub fn dot(&self, row: &[u8]) -> f32 {
        let mut sum = 0_i32;
        for (a, b) in self.values.iter().zip(row) {
            sum = sum.wrapping_add(i32::from(*a) * i32::from(*b as i8));
        }
        sum as f32 * self.factor
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let lengths = (dot(a, a) * dot(b, b)).sqrt();
        if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
    }

    proptest! {
        #[test]
        fn kept_vectors_have_the_cosines_of_their_originals(
            a in prop::collection::vec(-1.0_f32..1.0, 24), b in prop::collection::vec(-1.0_f32..1.0, 24),
        ) {
            let mut vectors = Vectors::new(24);
            vectors.push(&a);
            let found = vectors.cosines(&QueryVector::new(&b))[0];
            prop_assert!((found - cosine(&a, &b)).abs() < 0.01, "{found} {}", cosine(&a, &b));
        }
    }

    #[test]
    fn what_has_no_direction_is_like_nothing() {
        let mut vectors = Vectors::new(3);
        vectors.push(&[0.0, 0.0, 0.0]);
        vectors.push(&[1.0, f32::NAN, 0.0]);
        vectors.push(&[1.0, 2.0, 3.0]);
        assert_eq!(vectors.cosines(&QueryVector::new(&[0.0, 0.0, 0.0])), [0.0; 3]);
        assert!(QueryVector::new(&[0.0, f32::NAN, 0.0]).is_zero());
        assert_eq!(vectors.cosines(&QueryVector::new(&[1.0, 0.0, 0.0]))[0], 0.0);
    }

    #[test]
    fn long_vectors_do_not_overflow() {
        for length in [512, 513, 4096, 16_384] {
            let long = vec![-1.0_f32; length];
            let mut vectors = Vectors::new(length);
            vectors.push(&long);
            assert!((vectors.cosines(&QueryVector::new(&long))[0] - 1.0).abs() < 1e-3, "{length}");
        }
    }
}
