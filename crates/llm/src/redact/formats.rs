//! The formats of keys and tokens that can be told by themselves.
//!
//! Unless a format names another source, its prefix, alphabet and length are what the issuer documents, as
//! gitleaks' `config/gitleaks.toml` (v8) and GitHub's list of supported secret scanning patterns give it, too.

/// The characters of a part of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Digits.
    Digits,
    /// Digits and `a` to `f`, in either case.
    Hex,
    /// Capital letters and digits.
    Upper,
    /// Letters and digits.
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Base64Url,
    /// Letters, digits, `+` and `/`.
    Base64,
    /// Letters, digits, `_`, `-`, `.` and `~`.
    Unreserved,
    /// Both kinds of base 64 with their `=`, also as addresses escape it.
    Escaped,
}

impl Alphabet {
    pub(super) fn holds(self, byte: u8) -> bool {
        let alphanumeric = byte.is_ascii_alphanumeric();
        match self {
            Alphabet::Digits => byte.is_ascii_digit(),
            Alphabet::Hex => byte.is_ascii_hexdigit(),
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Alphanumeric => alphanumeric,
            Alphabet::Base64Url => alphanumeric || matches!(byte, b'_' | b'-'),
            Alphabet::Base64 => alphanumeric || matches!(byte, b'+' | b'/'),
            Alphabet::Unreserved => alphanumeric || matches!(byte, b'_' | b'-' | b'.' | b'~'),
            Alphabet::Escaped => alphanumeric || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'='),
        }
    }

    /// The length of what consists of this alphabet at the start of a text.
    pub(super) fn length(self, text: &[u8]) -> usize {
        let mut length = 0;
        while let Some(&byte) = text.get(length) {
            let escape = text[length..].get(1..3).filter(|_| byte == b'%' && self == Alphabet::Escaped);
            let escape = escape.is_some_and(|escape| {
                [b"2B", b"2F", b"3D"].iter().any(|known| escape.eq_ignore_ascii_case(*known))
            });
            match escape {
                true => length += 3,
                false if self.holds(byte) => length += 1,
                false => break,
            }
        }
        length
    }
}

use Alphabet::{Alphanumeric, Base64, Base64Url, Digits, Escaped, Hex, Unreserved, Upper};

/// A part of a secret: characters of one alphabet behind a fixed text.
#[derive(Debug)]
pub(super) struct Part {
    pub joint: &'static str,
    pub alphabet: Alphabet,
    pub min: usize,
    pub max: usize,
}

/// The format of one kind of secret.
#[derive(Debug)]
pub(super) struct Format {
    pub kind: &'static str,
    /// Characters before the prefix that belong to the secret.
    pub before: Option<Part>,
    /// The prefixes; each secret of the format has one of them.
    pub prefixes: &'static [&'static str],
    pub parts: &'static [Part],
    /// A text that must occur after the prefix; empty for most formats.
    pub contains: &'static str,
    /// The prefix is unmistakable: it counts within a word, too, and the secret has no greatest length. Otherwise the
    /// secret is a word of its own.
    pub anywhere: bool,
}

/// A part of `min` to `max` characters.
const fn part(joint: &'static str, alphabet: Alphabet, min: usize, max: usize) -> Part {
    Part { joint, alphabet, min, max }
}

/// No more characters of a part are looked at, so that no text makes the search slow.
pub(super) const LONGEST: usize = 2048;

/// The parts of a UUID.
const UUID: &[Part] =
    &[fixed("", Hex, 8), fixed("-", Hex, 4), fixed("-", Hex, 4), fixed("-", Hex, 4), fixed("-", Hex, 12)];

/// A part of `min` characters or more.
const fn least(alphabet: Alphabet, min: usize) -> Part {
    part("", alphabet, min, LONGEST)
}

/// A part of exactly `length` characters.
const fn fixed(joint: &'static str, alphabet: Alphabet, length: usize) -> Part {
    part(joint, alphabet, length, length)
}

/// A format with an unmistakable prefix.
const fn marked(kind: &'static str, prefixes: &'static [&'static str], parts: &'static [Part]) -> Format {
    Format { kind, before: None, prefixes, parts, contains: "", anywhere: true }
}

/// A format that must be a word of its own.
const fn word(kind: &'static str, prefixes: &'static [&'static str], parts: &'static [Part]) -> Format {
    Format { anywhere: false, ..marked(kind, prefixes, parts) }
}

/// Where several formats match at one place, the first counts.
pub(super) const FORMATS: &[Format] = &[
    // Models and what serves them.
    marked("Anthropic key", &["sk-ant-api03-", "sk-ant-admin01-"], &[least(Base64Url, 80)]),
    // docs.claude.com, «Claude Code»: OAuth access and refresh tokens, session keys of the web client.
    marked("Anthropic token", &["sk-ant-oat01-", "sk-ant-ort01-", "sk-ant-sid01-"], &[least(Base64Url, 80)]),
    // openrouter.ai/docs, «Authentication».
    marked("OpenRouter key", &["sk-or-v1-"], &[least(Hex, 64)]),
    // langfuse.com/docs, «API keys».
    marked("Langfuse key", &["sk-lf-"], UUID),
    // Also `sk-proj-` and similar prefixes; `T3BlbkFJ` is `OpenAI` in base 64.
    Format { contains: "T3BlbkFJ", ..word("OpenAI key", &["sk-"], &[part("", Base64Url, 48, 220)]) },
    // platform.openai.com: the session of the web client.
    word("OpenAI token", &["sess-"], &[part("", Alphanumeric, 32, 64)]),
    // api-docs.deepseek.com.
    word("DeepSeek key", &["sk-"], &[fixed("", Hex, 32)]),
    // docs.x.ai, «API keys».
    marked("xAI key", &["xai-"], &[least(Alphanumeric, 70)]),
    // console.groq.com/docs, «API keys».
    marked("Groq key", &["gsk_"], &[least(Alphanumeric, 52)]),
    marked("Perplexity key", &["pplx-"], &[least(Alphanumeric, 48)]),
    // replicate.com/docs, «API tokens».
    word("Replicate token", &["r8_"], &[fixed("", Alphanumeric, 37)]),
    word("Hugging Face token", &["hf_"], &[part("", Alphanumeric, 34, 40)]),
    marked("Hugging Face token", &["api_org_"], &[least(Alphanumeric, 34)]),
    // inference-docs.cerebras.ai; docs.fireworks.ai; docs.nvidia.com/nim: «API keys».
    word("Cerebras key", &["csk-"], &[fixed("", Alphanumeric, 48)]),
    word("Fireworks key", &["fw_"], &[part("", Alphanumeric, 22, 24)]),
    marked("NVIDIA key", &["nvapi-"], &[least(Base64Url, 60)]),
    // elevenlabs.io/docs, «API keys».
    word("ElevenLabs key", &["sk_"], &[fixed("", Hex, 48)]),
    // docs.langchain.com/langsmith; docs.pinecone.io; docs.tavily.com; e2b.dev/docs: «API keys».
    marked("LangSmith key", &["lsv2_pt_", "lsv2_sk_"], &[fixed("", Hex, 32), part("_", Hex, 10, LONGEST)]),
    marked("Pinecone key", &["pcsk_"], &[part("", Alphanumeric, 5, 8), part("_", Alphanumeric, 50, LONGEST)]),
    marked("Tavily key", &["tvly-dev-", "tvly-"], &[least(Alphanumeric, 32)]),
    marked("E2B key", &["e2b_"], &[least(Hex, 40)]),
    // firecrawl.dev; docs.voyageai.com; jina.ai: «API keys».
    word("Firecrawl key", &["fc-"], &[fixed("", Hex, 32)]),
    word("Voyage key", &["pa-"], &[part("", Base64Url, 40, 48)]),
    marked("Jina key", &["jina_"], &[least(Base64Url, 50)]),
    // Version control and packages.
    marked("GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], &[least(Alphanumeric, 36)]),
    marked("GitHub token", &["github_pat_"], &[least(Base64Url, 82)]),
    marked(
        "GitLab token",
        &["glpat-", "gldt-", "glrt-", "glft-", "glffct-", "glsoat-", "GR1348941"],
        &[least(Base64Url, 20)],
    ),
    marked("GitLab token", &["glptt-"], &[least(Hex, 40)]),
    marked("GitLab token", &["glimt-"], &[least(Base64Url, 25)]),
    marked("GitLab token", &["glagent-"], &[least(Base64Url, 50)]),
    marked("GitLab token", &["gloas-"], &[least(Base64Url, 64)]),
    marked("GitLab token", &["glcbt-"], &[part("", Alphanumeric, 1, 5), part("_", Base64Url, 20, LONGEST)]),
    // support.atlassian.com, «app passwords» of Bitbucket and «API tokens».
    word("Bitbucket password", &["ATBB"], &[part("", Alphanumeric, 32, 40)]),
    marked("Bitbucket token", &["ATCTT3"], &[least(Base64Url, 150)]),
    marked("Atlassian token", &["ATATT3"], &[least(Base64Url, 150)]),
    marked("npm token", &["npm_"], &[least(Alphanumeric, 36)]),
    marked("PyPI token", &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ"], &[least(Base64Url, 50)]),
    marked("RubyGems key", &["rubygems_"], &[least(Hex, 48)]),
    // crates.io, «API tokens»; learn.microsoft.com/nuget, «API keys».
    word("crates.io token", &["cio"], &[fixed("", Alphanumeric, 32)]),
    word("NuGet key", &["oy2"], &[fixed("", Alphanumeric, 43)]),
    marked("Clojars token", &["CLOJARS_"], &[least(Alphanumeric, 60)]),
    // docs.docker.com, «personal access tokens» and «organization access tokens».
    marked("Docker token", &["dckr_pat_", "dckr_oat_"], &[least(Base64Url, 27)]),
    word("Artifactory key", &["AKCp"], &[fixed("", Alphanumeric, 69)]),
    word("Artifactory token", &["cmVmd"], &[fixed("", Alphanumeric, 59)]),
    marked("Sourcegraph token", &["sgp_"], &[least(Hex, 40)]),
    marked("Sourcegraph token", &["sgp_"], &[fixed("", Hex, 16), part("_", Hex, 40, LONGEST)]),
    // circleci.com/docs; buildkite.com/docs: «API tokens».
    marked("CircleCI token", &["CCIPAT_"], &[part("", Alphanumeric, 22, 22), part("_", Hex, 40, LONGEST)]),
    marked("Buildkite token", &["bkua_"], &[least(Hex, 40)]),
    marked(
        "Harness token",
        &["pat.", "sat."],
        &[fixed("", Base64Url, 22), fixed(".", Alphanumeric, 24), fixed(".", Alphanumeric, 20)],
    ),
    word("Octopus Deploy key", &["API-"], &[fixed("", Upper, 26)]),
    // Clouds and hosts.
    word("AWS key", &["AKIA", "ASIA", "ABIA", "ACCA"], &[fixed("", Upper, 16)]),
    // docs.aws.amazon.com/bedrock, «API keys».
    marked("AWS key", &["ABSKQmVkcm9ja0FQSUtleS"], &[least(Base64, 80)]),
    word("Google key", &["AIza"], &[fixed("", Base64Url, 35)]),
    // developers.google.com/identity, «OAuth 2.0»: client secret, access token, refresh token.
    marked("Google secret", &["GOCSPX-"], &[least(Base64Url, 28)]),
    marked("Google token", &["ya29."], &[least(Base64Url, 60)]),
    word("Google token", &["1//0"], &[part("", Base64Url, 60, 110)]),
    // learn.microsoft.com, «client secrets» of Entra ID; «storage account keys»; «Azure DevOps»: tokens.
    Format {
        before: Some(part("", Unreserved, 4, 4)),
        ..word("Azure secret", &["Q~"], &[part("", Unreserved, 31, 34)])
    },
    Format {
        before: Some(part("", Base64, 76, 76)),
        ..word("Azure key", &["+ASt", "ACDb"], &[fixed("", Base64, 6)])
    },
    Format {
        before: Some(part("", Alphanumeric, 76, 76)),
        ..word("Azure DevOps token", &["AZDO"], &[part("", Alphanumeric, 4, 4)])
    },
    word("Alibaba key", &["LTAI"], &[part("", Alphanumeric, 16, 20)]),
    // cloud.tencent.com, «secret id».
    word("Tencent key", &["AKID"], &[part("", Alphanumeric, 32, 32)]),
    marked("DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[least(Hex, 64)]),
    marked("Heroku key", &["HRKU-AA"], &[least(Base64Url, 58)]),
    // fly.io/docs, «access tokens».
    marked("Fly.io token", &["fo1_"], &[least(Base64Url, 43)]),
    marked("Fly.io token", &["fm1a_", "fm1r_", "fm2_"], &[least(Base64, 100)]),
    // docs.netlify.com; render.com/docs; neon.tech/docs; supabase.com/docs: «access tokens», «API keys».
    marked("Netlify token", &["nfp_"], &[least(Alphanumeric, 36)]),
    marked("Render key", &["rnd_"], &[least(Alphanumeric, 24)]),
    marked("Neon key", &["napi_"], &[least(Alphanumeric, 60)]),
    marked("Supabase token", &["sbp_"], &[least(Hex, 40)]),
    marked("Supabase key", &["sb_secret_"], &[least(Base64Url, 31)]),
    marked("PlanetScale token", &["pscale_tkn_", "pscale_oauth_"], &[least(Unreserved, 32)]),
    marked("PlanetScale password", &["pscale_pw_"], &[least(Unreserved, 32)]),
    // developers.cloudflare.com, «origin CA keys».
    marked("Cloudflare key", &["v1.0-"], &[fixed("", Hex, 24), part("-", Hex, 146, LONGEST)]),
    word("Databricks token", &["dapi"], &[fixed("", Hex, 32)]),
    word("ClickHouse key", &["4b1d"], &[fixed("", Alphanumeric, 38)]),
    word("Scalingo token", &["tk-us-"], &[fixed("", Base64Url, 48)]),
    // Stores of secrets, and programs that build machines.
    // Before version 1.10.
    word("Vault token", &["s."], &[fixed("", Alphanumeric, 24)]),
    marked("Vault token", &["hvs."], &[least(Base64Url, 90)]),
    marked("Vault token", &["hvb."], &[least(Base64Url, 100)]),
    Format {
        before: Some(part("", Alphanumeric, 14, 14)),
        ..marked("Terraform token", &[".atlasv1."], &[least(Base64Url, 60)])
    },
    marked("Pulumi token", &["pul-"], &[least(Hex, 40)]),
    // docs.doppler.com, «token formats».
    marked(
        "Doppler token",
        &["dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        &[least(Alphanumeric, 40)],
    ),
    marked("1Password token", &["ops_eyJ"], &[least(Base64, 200)]),
    marked(
        "1Password key",
        &["A3-"],
        &[
            fixed("", Upper, 6),
            fixed("-", Upper, 6),
            fixed("-", Upper, 5),
            fixed("-", Upper, 5),
            fixed("-", Upper, 5),
            fixed("-", Upper, 5),
        ],
    ),
    marked(
        "1Password key",
        &["A3-"],
        &[
            fixed("", Upper, 6),
            fixed("-", Upper, 11),
            fixed("-", Upper, 5),
            fixed("-", Upper, 5),
            fixed("-", Upper, 5),
        ],
    ),
    marked("age key", &["AGE-SECRET-KEY-1"], &[least(Upper, 58)]),
    marked("Tailscale key", &["tskey-auth-", "tskey-api-", "tskey-client-"], &[least(Base64Url, 20)]),
    word("OpenShift token", &["sha256~"], &[fixed("", Base64Url, 43)]),
    marked("Infracost token", &["ico-"], &[least(Alphanumeric, 32)]),
    marked("Prefect token", &["pnu_"], &[least(Alphanumeric, 36)]),
    marked("Snyk token", &["snyk_uat."], &[fixed("", Hex, 8), part(".", Base64Url, 60, LONGEST)]),
    // Messages and chat.
    marked(
        "Slack token",
        &["xoxb-", "xoxp-", "xoxe-", "xoxe.xoxb-", "xoxe.xoxp-", "xoxa-", "xoxr-", "xoxs-"],
        &[least(Base64Url, 40)],
    ),
    // api.slack.com, «token types»: the cookie of the web client.
    marked("Slack token", &["xoxd-"], &[least(Escaped, 20)]),
    marked("Slack token", &["xapp-"], &[least(Base64Url, 40)]),
    marked(
        "Slack webhook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        &[least(Base64, 40)],
    ),
    // discord.com/developers: a bot's token is its number in base 64, a time and a signature; «webhooks».
    word(
        "Discord token",
        &["M", "N", "O"],
        &[part("", Base64Url, 23, 27), part(".", Base64Url, 6, 7), part(".", Base64Url, 27, 40)],
    ),
    // A person's token, with two factors.
    word("Discord token", &["mfa."], &[part("", Base64Url, 80, 120)]),
    marked(
        "Discord webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[part("", Digits, 17, 20), part("/", Base64Url, 60, LONGEST)],
    ),
    // core.telegram.org/bots/api, «Authorizing your bot».
    Format {
        before: Some(part("", Digits, 8, 10)),
        ..word("Telegram token", &[":"], &[fixed("", Base64Url, 35)])
    },
    word("Telegram token", &["bot"], &[part("", Digits, 8, 10), fixed(":", Base64Url, 35)]),
    marked("Teams webhook", &[".webhook.office.com/webhookb2/"], &[least(Base64Url, 36)]),
    // www.twilio.com/docs, «API keys»; its account token has no format.
    word("Twilio key", &["SK"], &[fixed("", Hex, 32)]),
    word("SendGrid key", &["SG."], &[fixed("", Base64Url, 22), fixed(".", Base64Url, 43)]),
    marked("Brevo key", &["xkeysib-"], &[fixed("", Hex, 64), part("-", Alphanumeric, 16, LONGEST)]),
    word("Mailgun key", &["key-"], &[fixed("", Hex, 32)]),
    Format {
        before: Some(part("", Hex, 32, 32)),
        ..word("Mailchimp key", &["-us"], &[part("", Digits, 1, 2)])
    },
    // resend.com/docs; api.line.me has no format.
    word("Resend key", &["re_"], &[part("", Alphanumeric, 8, 8), part("_", Alphanumeric, 24, 24)]),
    // Money and shops.
    marked("Stripe key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], &[least(Alphanumeric, 16)]),
    // docs.stripe.com/webhooks, «signing secret».
    marked("Stripe secret", &["whsec_"], &[least(Base64, 32)]),
    word("Square token", &["EAAA"], &[part("", Base64Url, 58, 62)]),
    marked("Square token", &["sq0atp-"], &[least(Base64Url, 22)]),
    marked("Square secret", &["sq0csp-"], &[least(Base64Url, 43)]),
    marked("Shopify token", &["shpat_", "shpca_", "shppa_"], &[least(Hex, 32)]),
    marked("Shopify secret", &["shpss_"], &[least(Hex, 32)]),
    marked("Shippo token", &["shippo_live_"], &[least(Hex, 40)]),
    // plaid.com/docs; razorpay.com/docs; docs.adyen.com: «API keys».
    marked("Plaid token", &["access-production-"], UUID),
    word("EasyPost key", &["EZAK"], &[fixed("", Alphanumeric, 54)]),
    marked("Duffel token", &["duffel_live_"], &[least(Base64Url, 43)]),
    marked("Flutterwave key", &["FLWSECK-"], &[least(Alphanumeric, 32)]),
    // developer.paypal.com/braintree, «access tokens».
    marked(
        "Braintree token",
        &["access_token$production$", "access_token$sandbox$"],
        &[fixed("", Alphanumeric, 16), fixed("$", Hex, 32)],
    ),
    // A private key of Ethereum. The hash of a transaction looks the same.
    word("Ethereum key", &["0x"], &[fixed("", Hex, 64)]),
    // Documents, design and work.
    // developers.notion.com, «authentication».
    word("Notion token", &["secret_"], &[fixed("", Alphanumeric, 43)]),
    marked("Notion token", &["ntn_"], &[least(Alphanumeric, 40)]),
    // airtable.com/developers, «personal access tokens».
    word("Airtable token", &["pat"], &[fixed("", Alphanumeric, 14), fixed(".", Hex, 64)]),
    marked("Figma token", &["figd_"], &[least(Base64Url, 40)]),
    marked("Postman key", &["PMAK-"], &[fixed("", Hex, 24), part("-", Hex, 34, LONGEST)]),
    marked("Linear key", &["lin_api_"], &[least(Alphanumeric, 40)]),
    marked("Linear key", &["lin_oauth_"], &[least(Hex, 40)]),
    marked("Contentful token", &["CFPAT-"], &[least(Base64Url, 43)]),
    marked("HubSpot token", &["pat-na1-"], UUID),
    marked("Typeform token", &["tfp_"], &[least(Unreserved, 44)]),
    marked("ReadMe key", &["rdme_"], &[least(Alphanumeric, 70)]),
    // Measuring and searching.
    // api-dashboard.search.brave.com, «API keys».
    word("Brave key", &["BSA"], &[part("", Base64Url, 24, 32)]),
    marked("Grafana token", &["glc_"], &[least(Base64, 32)]),
    marked("Grafana token", &["glsa_"], &[fixed("", Alphanumeric, 32), part("_", Hex, 8, LONGEST)]),
    marked("New Relic key", &["NRAK-"], &[least(Alphanumeric, 27)]),
    marked("New Relic key", &["NRII-"], &[least(Base64Url, 32)]),
    marked("Sentry token", &["sntryu_"], &[least(Hex, 64)]),
    marked("Sentry token", &["sntrys_"], &[least(Escaped, 32)]),
    marked(
        "Dynatrace token",
        &["dt0c01."],
        &[fixed("", Alphanumeric, 24), part(".", Alphanumeric, 64, LONGEST)],
    ),
    Format { before: Some(part("", Base64Url, 36, 36)), ..word("MaxMind key", &["_mmk"], &[]) },
    // People and places.
    // developers.facebook.com, «access tokens».
    word("Facebook token", &["EAA"], &[part("", Alphanumeric, 90, 300)]),
    marked("Dropbox token", &["sl."], &[least(Base64Url, 120)]),
    // docs.mapbox.com, «access tokens».
    marked("Mapbox token", &["sk.eyJ"], &[least(Base64Url, 40), part(".", Base64Url, 20, LONGEST)]),
];
