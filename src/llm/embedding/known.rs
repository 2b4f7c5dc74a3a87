//! What is known of models that turn texts into vectors.
//!
//! A model's name enters; what its makers want before questions and texts leaves, with the cosine
//! that two texts without anything in common have in it. Models differ much in the latter: where one
//! gives 0.05 another gives 0.7, and a relevance that means the same everywhere needs it taken off.
//! The prefixes are from the models' own descriptions. The cosines are round figures from what is
//! published and reported of each model, not measurements of ours: settings beat them.

/// What is known of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// What stands before a question.
    pub question_prefix: &'static str,
    /// What stands before a text.
    pub text_prefix: &'static str,
    /// The cosine of a question and a text that have nothing to do with each other.
    pub unrelated: f32,
}

const RETRIEVAL: &str = "Represent this sentence for searching relevant passages: ";

/// Part of a model's name, before question, before text, cosine of unrelated ones. The first counts.
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
    /// What is known of a model; of one that nobody knows, that it wants nothing before texts and
    /// gives unrelated ones a cosine of 0.2.
    pub fn of(model: &str) -> Known {
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
