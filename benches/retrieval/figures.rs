//! The usual metrics of a ranking, averaged over queries.

use std::fmt;

/// Sums over queries.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    questions: usize,
    recall_5: f64,
    recall_10: f64,
    reciprocal_rank: f64,
    gain_10: f64,
}

impl Figures {
    /// Adds one query: the ranked texts, best first, and the relevant texts, both as text numbers.
    ///
    /// * Recall@k: the share of relevant texts among the first k;
    /// * reciprocal rank: 1 / rank of the first relevant text, 0 if there is none;
    /// * nDCG@10 (Järvelin and Kekäläinen 2002) with binary relevance: Σ 1 / log2(1 + rank) over the relevant
    ///   texts among the first ten, divided by its maximum.
    pub fn add(&mut self, ranking: &[usize], relevant: &[usize]) {
        let places: Vec<usize> =
            (1..).zip(ranking).filter(|(_, text)| relevant.contains(text)).map(|(place, _)| place).collect();
        let among = |first: usize| places.iter().filter(|place| **place <= first).count() as f64;
        let gain = |place: usize| 1.0 / (1.0 + place as f64).log2();
        let ideal: f64 = (1..=relevant.len().min(10)).map(gain).sum();
        self.questions += 1;
        self.recall_5 += among(5) / relevant.len() as f64;
        self.recall_10 += among(10) / relevant.len() as f64;
        self.reciprocal_rank += places.first().map_or(0.0, |place| 1.0 / *place as f64);
        self.gain_10 +=
            places.iter().filter(|place| **place <= 10).map(|place| gain(*place)).sum::<f64>() / ideal;
    }

    /// The mean Recall@5.
    #[allow(dead_code, reason = "the bench prints all, a test asks for one")]
    pub fn recall_5(&self) -> f64 {
        self.recall_5 / self.questions.max(1) as f64
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = |sum: f64| sum / self.questions.max(1) as f64;
        write!(
            f,
            "{} | {:.3} | {:.3} | {:.3} | {:.3}",
            self.questions,
            mean(self.recall_5),
            mean(self.recall_10),
            mean(self.reciprocal_rank),
            mean(self.gain_10),
        )
    }
}
