//! Facts about known embedding models.
//!
//! The name of a model enters; the prefixes for questions and texts that its makers prescribe leave, with
//! the cosine of unrelated texts in it. That baseline differs much: one model gives 0.05, another 0.7. It
//! is subtracted, so that a relevance means the same everywhere. The prefixes are from the models' own
//! descriptions. The cosines are round figures from what is published about each model, not our
//! measurements; settings override them.

/// Facts about one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    /// Prefix of a question.
    pub(crate) question_prefix: &'static str,
    /// Prefix of a text.
    pub(crate) text_prefix: &'static str,
    /// Baseline cosine of an unrelated question and text.
    pub(crate) unrelated: f32,
}

const RETRIEVAL: &str = "Represent this sentence for searching relevant passages: ";

/// Part of a model's name, prefix of questions, prefix of texts, baseline cosine. The first match counts.
const MODELS: [(&str, &str, &str, f32); 14] = [
    ("nomic-embed-text", "search_query: ", "search_document: ", 0.45),
    ("mxbai-embed-large", RETRIEVAL, "", 0.35),
    ("snowflake-arctic-embed", RETRIEVAL, "", 0.2),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: ", 0.2),
    ("qwen3-embedding", "Instruct: Given a question, retrieve memories that answer it\nQuery: ", "", 0.25),
    ("multilingual-e5", "query: ", "passage: ", 0.72),
    ("e5-", "query: ", "passage: ", 0.7),
    ("bge-m3", "", "", 0.35),
    ("bge-", RETRIEVAL, "", 0.4),
    ("all-minilm", "", "", 0.05),
    ("paraphrase-", "", "", 0.05),
    ("all-mpnet", "", "", 0.05),
    ("text-embedding-3", "", "", 0.1),
    ("text-embedding-ada-002", "", "", 0.7),
];

impl Known {
    /// The facts about a model. An unknown model gets no prefixes and a baseline of 0.2.
    pub(crate) fn of(model: &str) -> Known {
        let name = model.to_lowercase().replace('_', "-");
        let found = MODELS.iter().find(|(part, ..)| name.contains(part));
        let &(_, question_prefix, text_prefix, unrelated) = found.unwrap_or(&("", "", "", 0.2));
        Known { question_prefix, text_prefix, unrelated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_whatever_name_a_server_gives_them() {
        for (name, question, unrelated) in [
            ("nomic-embed-text:v1.5", "search_query: ", 0.45),
            ("nomic-ai/nomic-embed-text-v1.5-GGUF", "search_query: ", 0.45),
            ("intfloat/multilingual-e5-large", "query: ", 0.72),
            ("intfloat/e5-base-v2", "query: ", 0.7),
            ("BAAI/bge-m3", "", 0.35),
            ("sentence-transformers/all-MiniLM-L6-v2", "", 0.05),
            ("text-embedding-3-large", "", 0.1),
            ("text-embedding-ada-002", "", 0.7),
            ("somebody's", "", 0.2),
            ("", "", 0.2),
        ] {
            let known = Known::of(name);
            assert_eq!((known.question_prefix, known.unrelated), (question, unrelated), "{name}");
        }
    }

    #[test]
    fn unrelated_texts_are_not_the_same() {
        assert!(MODELS.iter().all(|(.., unrelated)| (0.0..0.9).contains(unrelated)));
    }
}
