//! Embedding models as a trait, and the quantized form in which vectors are stored and compared.
//!
//! Texts enter an [`Embedder`], vectors leave. A stored vector is a row of signed bytes with the inverse of its
//! length: an error of an eighth of a percent for a quarter of the space, and integers whose products the
//! compiler vectorizes. All vectors are stored this way, whether just computed or read from the index, so the
//! index never changes an answer.

use memories_document::types::hint::{Advice, Hint};
use memories_llm::Destination;

/// An embedder failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct EmbedError {
    /// The message: what failed, on what, and why.
    pub problem: String,
    /// The next step for the user.
    pub hint: String,
    /// True if a retry may succeed.
    pub passing: bool,
}

impl Hint for EmbedError {
    fn advice(&self) -> Advice {
        if self.passing { Advice::retry(&self.hint) } else { Advice::fix(&self.hint) }
    }
}

/// An embedding model: texts of similar meaning get vectors of similar direction.
pub trait Embedder: Send + Sync {
    /// Identifies the vectors by model, dimensions and version. Vectors with different stamps are never compared.
    fn stamp(&self) -> String;

    /// Number of dimensions. For a served model, this and the stamp are final once it has returned a vector.
    fn dimensions(&self) -> usize;

    /// One vector for each text, of any length; all zeros for a text that the model knows nothing of.
    ///
    /// # Errors
    ///
    /// If the model cannot be reached or refuses. The built-in model never fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The query vector; some models expect a query in another form than a text.
    ///
    /// # Errors
    ///
    /// As [`Embedder::embed`].
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(&[query])?.pop().unwrap_or_default())
    }

    /// Baseline cosine of a query and an unrelated text, from 0 to below 1. It is subtracted, so that a similarity
    /// means the same with every embedder.
    fn unrelated(&self) -> f32 {
        0.0
    }

    /// True for the built-in model: the vector of a text is the sum of its words' vectors.
    fn adds_words(&self) -> bool {
        false
    }

    /// True if the model is behind a server. Its vectors cost time or money, so every one is stored.
    fn is_served(&self) -> bool {
        false
    }

    /// The other machines that texts may be sent to.
    fn destinations(&self) -> Vec<Destination> {
        Vec::new()
    }

    /// True if the built-in model takes over if this one fails.
    fn falls_back(&self) -> bool {
        false
    }

    /// Receives progress while a whole file is embedded.
    fn report(&self, _done: usize, _all: usize) {}
}

/// Quantized vectors of one embedder, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    pub(super) dimensions: usize,
    /// One row of `dimensions` bytes for each vector.
    pub(super) rows: Vec<u8>,
    /// The inverse of each vector's length.
    pub(super) inverse_lengths: Vec<f32>,
}

impl Vectors {
    /// An empty list of vectors with that many dimensions.
    pub fn new(dimensions: usize) -> Vectors {
        Vectors { dimensions, ..Vectors::default() }
    }

    /// Quantizes a vector and appends it.
    pub fn push(&mut self, vector: &[f32]) {
        debug_assert_eq!(vector.len(), self.dimensions);
        let factor = factor_to(vector, 127.0);
        let mut squares = 0.0_f32;
        self.rows.extend(vector.iter().map(|value| {
            let byte = (value * factor).round() as i8;
            squares += f32::from(byte) * f32::from(byte);
            byte as u8
        }));
        self.inverse_lengths.push(if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 });
    }

    /// Appends a vector of another list of the same embedder; `None` where that list is inconsistent.
    pub(super) fn push_copy(&mut self, other: &VectorRows<'_>, number: usize) -> Option<()> {
        self.rows.extend_from_slice(other.row(number)?);
        self.inverse_lengths.push(*other.inverse_lengths.get(number)?);
        Some(())
    }

    /// The vectors as slices.
    pub(super) fn all(&self) -> VectorRows<'_> {
        let Vectors { dimensions, rows, inverse_lengths } = self;
        VectorRows { dimensions: *dimensions, rows, inverse_lengths }
    }

    /// The cosine of each vector and a query vector, from -1 to 1; 0 if either is all zeros.
    pub fn cosines(&self, with: &QueryVector) -> Vec<f32> {
        let rows = self.rows.chunks_exact(self.dimensions.max(1));
        rows.zip(&self.inverse_lengths).map(|(row, inverse)| with.dot(row) * inverse).collect()
    }
}

/// Quantized vectors, wherever they are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorRows<'a> {
    pub(super) dimensions: usize,
    /// One row of `dimensions` bytes for each vector.
    pub(super) rows: &'a [u8],
    /// The inverse of each vector's length.
    pub(super) inverse_lengths: &'a [f32],
}

impl<'a> VectorRows<'a> {
    fn row(&self, number: usize) -> Option<&'a [u8]> {
        self.rows.get(number * self.dimensions..(number + 1) * self.dimensions)
    }

    /// The cosine of one vector and a query vector; 0 if there is no such vector.
    #[inline]
    pub(crate) fn cosine(&self, number: usize, with: &QueryVector) -> f32 {
        let vector = self.row(number).zip(self.inverse_lengths.get(number));
        vector.map_or(0.0, |(row, inverse)| with.dot(row) * inverse)
    }
}

/// A vector to compare with many others: normalized to length 1 and quantized to 16-bit integers;
/// more coarsely beyond 512 dimensions, so that sums of products fit into 32 bits.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryVector {
    values: Vec<i16>,
    factor: f32,
}

impl QueryVector {
    /// Quantizes a vector of any length.
    pub fn new(vector: &[f32]) -> QueryVector {
        // The finest scale at which a sum of products with bytes fits into 32 bits.
        let steps = (i32::MAX as usize / 128 / vector.len().max(1)).min(32_767) as f32;
        let factor = factor_to(vector, steps);
        let values: Vec<i16> = vector.iter().map(|value| (value * factor).round() as i16).collect();
        let squares: f64 = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
        let factor = if squares > 0.0 { (1.0 / squares.sqrt()) as f32 } else { 0.0 };
        QueryVector { values, factor }
    }

    /// The dot product with a row of bytes.
    #[inline]
    pub(crate) fn dot(&self, row: &[u8]) -> f32 {
        self.sum_of_products(row.iter().map(|byte| i32::from(*byte as i8)))
    }

    /// The product with a row that was widened once, for several query vectors.
    #[inline]
    pub(super) fn dot_wide(&self, row: &[i16]) -> f32 {
        self.sum_of_products(row.iter().map(|value| i32::from(*value)))
    }

    #[inline]
    fn sum_of_products(&self, row: impl Iterator<Item = i32>) -> f32 {
        let products = self.values.iter().zip(row).map(|(a, b)| i32::from(*a) * b);
        products.fold(0_i32, i32::wrapping_add) as f32 * self.factor
    }
}

/// The factor by which the largest value of a vector becomes `most`; 0 where there is none.
fn factor_to(vector: &[f32], most: f32) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest > 0.0 && largest.is_finite() { most / largest } else { 0.0 }
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
        fn stored_vectors_have_the_cosines_of_their_originals(
            a in prop::collection::vec(-1.0_f32..1.0, 24), b in prop::collection::vec(-1.0_f32..1.0, 24),
        ) {
            let mut vectors = Vectors::new(24);
            vectors.push(&a);
            let found = vectors.cosines(&QueryVector::new(&b))[0];
            prop_assert!((found - cosine(&a, &b)).abs() < 0.01, "{found} {}", cosine(&a, &b));
        }
    }

    #[test]
    fn a_vector_without_a_direction_is_similar_to_nothing() {
        let mut vectors = Vectors::new(3);
        vectors.push(&[0.0, 0.0, 0.0]);
        vectors.push(&[1.0, f32::NAN, 0.0]);
        vectors.push(&[1.0, 2.0, 3.0]);
        assert_eq!(vectors.cosines(&QueryVector::new(&[0.0, 0.0, 0.0])), [0.0; 3]);
        assert_eq!(QueryVector::new(&[0.0, f32::NAN, 0.0]).factor, 0.0);
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
