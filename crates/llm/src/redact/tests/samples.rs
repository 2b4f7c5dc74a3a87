//! Samples of the formats, and random keys made from them.

/// A generator of random numbers (SplitMix64).
pub(super) struct Dice(pub u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) % sides as u64) as usize
    }
}

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The characters of a letter in a sample.
fn alphabet(letter: char) -> Vec<char> {
    let parts: &[&str] = match letter {
        'd' => &[DIGITS],
        'h' => &[HEX],
        'H' => &["0123456789ABCDEF"],
        'X' => &[UPPER, DIGITS],
        '2' => &[UPPER, "234567"],
        'a' => &[LOWER, DIGITS],
        'W' => &[LOWER, UPPER],
        'A' => &[LOWER, UPPER, DIGITS],
        'U' => &[LOWER, UPPER, DIGITS, "-_"],
        'B' => &[LOWER, UPPER, DIGITS, "+/"],
        // Passwords as generators make them, of characters that mean nothing in a URL or a shell.
        'p' => &[LOWER, UPPER, DIGITS, "!-_*."],
        _ => panic!("{letter} is no alphabet"),
    };
    parts.iter().flat_map(|part| part.chars()).collect()
}

/// A random key made from a sample, and its random parts.
pub(super) fn key(sample: &str, dice: &mut Dice) -> (String, Vec<String>) {
    let (mut key, mut parts) = (String::new(), Vec::new());
    let mut rest = sample;
    while let Some((fixed, more)) = rest.split_once('{') {
        let (part, more) = more.split_once('}').expect("a closed part");
        let letters = alphabet(part.chars().next().expect("an alphabet"));
        let length: usize = part[1..].parse().expect("a length");
        let random: String = (0..length).map(|_| letters[dice.throw(letters.len())]).collect();
        key.push_str(fixed);
        key.push_str(&random);
        parts.push(random);
        rest = more;
    }
    key.push_str(rest);
    // The base 64 of `user:password` is made here, since it is not random in each character.
    if let Some((before, credentials)) = key.split_once("BASE64 ") {
        let encoded = base64(credentials.as_bytes());
        (format!("{before}{encoded}"), vec![encoded.trim_end_matches('=').to_owned()])
    } else {
        (key, parts)
    }
}

fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> = [UPPER, LOWER, DIGITS, "+/"].concat().chars().collect();
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0_usize, |number, &byte| number << 8 | usize::from(byte))
            << (8 * (3 - chunk.len()));
        let encoded: String = (0..4).map(|at| digits[number >> (18 - 6 * at) & 63]).collect();
        out.push_str(&encoded[..=chunk.len()]);
        out.push_str(&"="[..usize::from(chunk.len() < 3)]);
        out.push_str(&"="[..usize::from(chunk.len() < 2)]);
    }
    out
}

/// The name of each format, and a sample of it.
pub(super) const SAMPLES: &[(&str, &str)] = &[
    ("OpenAI, old", "sk-{A20}T3BlbkFJ{A20}"),
    ("OpenAI, project", "sk-proj-{U74}T3BlbkFJ{U74}"),
    ("OpenAI, service account", "sk-svcacct-{U58}T3BlbkFJ{U58}"),
    ("OpenAI, admin", "sk-admin-{U58}T3BlbkFJ{U58}"),
    ("Anthropic, api03", "sk-ant-api03-{U93}AA"),
    ("Anthropic, admin01", "sk-ant-admin01-{U93}AA"),
    ("Anthropic, oat01", "sk-ant-oat01-{U93}AA"),
    ("Anthropic, sid01", "sk-ant-sid01-{U93}AA"),
    ("OpenRouter", "sk-or-v1-{h64}"),
    ("DeepSeek", "sk-{h32}"),
    ("xAI", "xai-{A80}"),
    ("Groq", "gsk_{A52}"),
    ("Perplexity", "pplx-{A48}"),
    ("Replicate", "r8_{A37}"),
    ("Hugging Face", "hf_{W34}"),
    ("Hugging Face, organization", "api_org_{W34}"),
    ("Cerebras", "csk-{a48}"),
    ("Fireworks", "fw_{A24}"),
    ("NVIDIA", "nvapi-{U64}"),
    ("ElevenLabs", "sk_{h48}"),
    ("LangSmith", "lsv2_pt_{h32}_{h10}"),
    ("Langfuse", "sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("Pinecone", "pcsk_{A6}_{A60}"),
    ("Tavily", "tvly-{A32}"),
    ("Tavily, development", "tvly-dev-{A32}"),
    ("E2B", "e2b_{h40}"),
    ("Firecrawl", "fc-{h32}"),
    ("Voyage", "pa-{U43}"),
    ("Jina", "jina_{h32}{U30}"),
    ("Cohere", "COHERE_API_KEY={A40}"),
    ("Mistral", "MISTRAL_API_KEY={A32}"),
    ("Together", "\"TOGETHER_API_KEY\": \"{h64}\""),
    ("Weights & Biases", "WANDB_API_KEY={h40}"),
    ("GitHub, personal", "ghp_{A36}"),
    ("GitHub, OAuth", "gho_{A36}"),
    ("GitHub, app", "ghs_{A36}"),
    ("GitHub, user", "ghu_{A36}"),
    ("GitHub, refresh", "ghr_{A36}"),
    ("GitHub, fine-grained", "github_pat_{A22}_{A59}"),
    ("GitLab, personal", "glpat-{U20}"),
    ("GitLab, trigger", "glptt-{h40}"),
    ("GitLab, deploy", "gldt-{U20}"),
    ("GitLab, runner", "glrt-{U20}"),
    ("GitLab, job", "glcbt-{h2}_{U20}"),
    ("GitLab, registration", "GR1348941{U20}"),
    ("Bitbucket, app password", "ATBB{A32}"),
    ("Atlassian", "ATATT3{U186}"),
    ("npm", "npm_{A36}"),
    ("PyPI", "pypi-AgEIcHlwaS5vcmc{U160}"),
    ("RubyGems", "rubygems_{h48}"),
    ("crates.io", "cio{A32}"),
    ("NuGet", "oy2{a43}"),
    ("Docker", "dckr_pat_{U27}"),
    ("Docker, organization", "dckr_oat_{U32}"),
    ("Artifactory", "AKCp{A69}"),
    ("Sourcegraph", "sgp_{h16}_{h40}"),
    ("CircleCI", "CCIPAT_{A22}_{h40}"),
    ("Buildkite", "bkua_{h40}"),
    ("Octopus Deploy", "API-{X26}"),
    ("AWS, access key", "AKIA{216}"),
    ("AWS, temporary key", "ASIA{216}"),
    ("AWS, secret key", "AWS_SECRET_ACCESS_KEY={B40}"),
    ("AWS, secret key in JSON", "\"SecretAccessKey\": \"{B40}\""),
    ("Azure, storage", "AccountKey={B76}+ASt{B6}=="),
    ("Azure, client secret", "{A3}8Q~{U34}"),
    ("Azure, shared access", "SharedAccessKey={B43}="),
    ("Azure, shared access URL", "https://x.blob.core.windows.net/c?sv=2022-11-02&sr=c&sig={A43}%3D"),
    ("Azure DevOps", "{A76}AZDO{A4}"),
    ("Google, API key", "AIza{U35}"),
    ("Google, client secret", "GOCSPX-{U28}"),
    ("Google, access token", "ya29.{U160}"),
    (
        "Google, service account",
        "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n{B64}\\n{B64}\\n-----END PRIVATE KEY-----\\n\"",
    ),
    ("Alibaba", "LTAI{A20}"),
    ("DigitalOcean", "dop_v1_{h64}"),
    ("Heroku", "HRKU-AA{U58}"),
    ("Fly.io", "fm2_{B160}"),
    ("Fly.io, old", "fo1_{U43}"),
    ("Netlify", "nfp_{A36}"),
    ("Render", "rnd_{A32}"),
    ("Neon", "napi_{a64}"),
    ("Supabase", "sbp_{h40}"),
    ("PlanetScale", "pscale_tkn_{U43}"),
    ("PlanetScale, password", "pscale_pw_{U43}"),
    ("Cloudflare, origin", "v1.0-{h24}-{h146}"),
    ("Cloudflare, API token", "CLOUDFLARE_API_TOKEN={U40}"),
    ("Databricks", "dapi{h32}"),
    ("Vault", "hvs.{U95}"),
    ("Vault, batch", "hvb.{U140}"),
    ("Terraform", "{A14}.atlasv1.{U67}"),
    ("Pulumi", "pul-{h40}"),
    ("Doppler", "dp.pt.{A43}"),
    ("1Password, service account", "ops_eyJ{B400}"),
    ("1Password, secret key", "A3-{X6}-{X6}-{X5}-{X5}-{X5}-{X5}"),
    ("age", "AGE-SECRET-KEY-1{X58}"),
    ("Tailscale", "tskey-auth-{A12}-{A32}"),
    ("OpenShift", "sha256~{U43}"),
    ("WireGuard", "PrivateKey = {B43}="),
    ("Prefect", "pnu_{A36}"),
    ("Slack, bot", "xoxb-{d11}-{d12}-{A24}"),
    ("Slack, user", "xoxp-{d11}-{d12}-{d12}-{h32}"),
    ("Slack, app", "xapp-1-{X11}-{d13}-{h64}"),
    ("Slack, webhook", "https://hooks.slack.com/services/T{X8}/B{X8}/{A24}"),
    ("Discord, bot", "M{A23}.{U6}.{U27}"),
    ("Discord, webhook", "https://discord.com/api/webhooks/{d18}/{U68}"),
    ("Telegram", "{d10}:AA{U33}"),
    ("Twilio, API key", "SK{h32}"),
    ("Twilio, token", "TWILIO_AUTH_TOKEN={h32}"),
    ("SendGrid", "SG.{U22}.{U43}"),
    ("Brevo", "xkeysib-{h64}-{A16}"),
    ("Mailgun", "key-{h32}"),
    ("Mailchimp", "{h32}-us12"),
    ("Resend", "re_{A8}_{A24}"),
    ("Stripe, live", "sk_live_{A24}"),
    ("Stripe, test", "sk_test_{A24}"),
    ("Stripe, restricted", "rk_live_{A24}"),
    ("Stripe, webhook", "whsec_{B32}"),
    ("Square", "sq0atp-{U22}"),
    ("Square, new", "EAAA{U60}"),
    ("Shopify", "shpat_{h32}"),
    ("Shopify, shared", "shpss_{h32}"),
    ("Plaid", "access-production-{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("Notion, old", "secret_{A43}"),
    ("Notion", "ntn_{d11}{A35}"),
    ("Airtable", "pat{A14}.{h64}"),
    ("Figma", "figd_{U40}"),
    ("Postman", "PMAK-{h24}-{h34}"),
    ("Linear", "lin_api_{A40}"),
    ("Contentful", "CFPAT-{U43}"),
    ("HubSpot", "pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("Typeform", "tfp_{U44}"),
    ("Grafana, cloud", "glc_eyJ{B100}"),
    ("Grafana, service account", "glsa_{A32}_{h8}"),
    ("New Relic", "NRAK-{X27}"),
    ("Datadog", "DD_API_KEY={h32}"),
    ("Sentry, organization", "sntrys_eyJ{B120}"),
    ("Sentry, user", "sntryu_{h64}"),
    ("Dynatrace", "dt0c01.{X24}.{X64}"),
    ("MaxMind", "{A6}_{A29}_mmk"),
    ("Facebook", "EAAC{A120}"),
    ("Dropbox", "sl.{U136}"),
    ("Mapbox", "sk.eyJ{U60}.{U22}"),
    ("JSON web token", "eyJ{U34}.eyJ{U80}.{U43}"),
    ("RSA key", "-----BEGIN RSA PRIVATE KEY-----\n{B64}\n{B64}\n-----END RSA PRIVATE KEY-----"),
    ("OpenSSH key", "-----BEGIN OPENSSH PRIVATE KEY-----\n{B70}\n{B70}\n-----END OPENSSH PRIVATE KEY-----"),
    ("PGP key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{B64}\n{B64}\n-----END PGP PRIVATE KEY BLOCK-----"),
    ("Basic header", "Authorization: Basic BASE64 admin:{A16}"),
    ("Bearer header", "Authorization: Bearer {U40}"),
    ("Token header", "Authorization: token {h40}"),
    ("URL with credentials", "https://deploy:{p20}@example.org/repository.git"),
    ("Database URL", "postgres://app:{p20}@db.example.org:5432/main"),
    ("Redis URL", "redis://:{p24}@cache.example.org:6379/0"),
    ("MongoDB URL", "mongodb+srv://app:{p20}@cluster0.example.org/main"),
    ("Password", "password={p16}"),
    ("Password in JSON", "\"password\": \"{p16}\""),
    ("Secret in YAML", "client_secret: {A32}"),
    ("Cookie of a session", "refresh_token={U64}"),
    // The formats that are known since the last review of the tables.
    ("OpenAI, session", "sess-{A40}"),
    ("Slack, cookie", "xoxd-{A30}%2B{A30}%2F{A60}%3D"),
    (
        "PuTTY key",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 2\n{B64}\n{B64}\nPrivate-MAC: {h64}\n",
    ),
    ("Telegram, in an address", "https://api.telegram.org/bot{d10}:{U35}/getMe"),
    ("Telegram, old", "{d9}:{U35}"),
    ("Vault, old", "s.{A24}"),
    ("Sentry, with its signature", "sntrys_eyJ{B60}==_{B43}"),
    ("Braintree", "access_token$production${a16}${h32}"),
    ("Ethereum", "0x{h64}"),
    ("Brave", "BSA{U28}"),
    ("Discord, two factors", "mfa.{U84}"),
    ("S3, presigned", "https://b.s3.amazonaws.com/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature={h64}"),
    ("S3, presigned, in HTML", "https://b.s3.amazonaws.com/k?a=1&amp;X-Amz-Signature={h64}"),
    ("S3, old, presigned", "https://b.s3.amazonaws.com/k?Expires=1790000000&Signature={B27}%3D"),
    ("Google, presigned", "https://storage.googleapis.com/b/o?x=1&X-Goog-Signature={h256}"),
    ("Google, presigned, in HTML", "https://storage.googleapis.com/b/o?x=1&amp;X-Goog-Signature={h256}"),
    ("Azure, shared access, in HTML", "https://x.blob.core.windows.net/c?sv=2022&amp;sig={A43}%3D"),
    ("Azure, shared access, in JSON", "https://x.blob.core.windows.net/c?sv=2022\\u0026sig={A43}%3D"),
    ("Azure, shared access, escaped", "https%3A%2F%2Fx.net%2Fc%3Fsv%3D2022%26sig%3D{A43}"),
    ("OAuth code", "https://app.example.org/callback?code={A32}&state=x"),
    ("OAuth code, in HTML", "https://app.example.org/callback?state=x&amp;code={U40}"),
    ("Cookie", "Cookie: theme=dark; session={A40}"),
    ("Cookie that is set", "Set-Cookie: sid={A32}; Path=/; HttpOnly"),
    ("Cookie of curl", "curl -b 'sid={A32}' https://example.org"),
    ("Cookie of PHP", "PHPSESSID={A26}"),
    ("CSRF header", "X-CSRF-Token: {A32}"),
    ("XSRF cookie", "XSRF-TOKEN={A36}"),
    ("CSRF of a form", "csrfmiddlewaretoken={A64}"),
    ("curl -u", "curl -u joe:{A24} https://example.org/"),
    ("curl --user", "curl --user \"joe:{p20}\" https://example.org/"),
    ("sshpass", "sshpass -p {A20} ssh joe@host"),
    ("netrc", "machine example.org login joe password {A24}"),
    ("netrc, in lines", "machine example.org\n  login joe\n  password {A24}"),
    ("pgpass", "db.example.org:5432:app:joe:{A20}"),
    ("pgpass for all databases", "*:*:*:joe:{A20}"),
    ("Variable on the next line", "DB_PASSWORD=\n{A20}"),
    ("Variable on the next line of YAML", "client_secret: |\n  {A32}"),
    ("Variable of docker", "docker run -e DB_PASSWORD {A20} image"),
    ("Variable of a Dockerfile", "ENV API_TOKEN {A32}"),
    ("Password of a sentence", "password: {A24}"),
    ("Password with marks", "password: {A8}&{A6}!{A6}"),
    ("Password, German", "Passwort: {A24}"),
    ("Password, French", "Mot de passe : {A24}"),
    ("Password, Spanish", "contraseña: {A24}"),
    ("Password, Portuguese", "senha: {A24}"),
    ("Password, Polish", "Hasło: {A24}"),
    ("Password, Russian", "Пароль: {A24}"),
    ("Password, Chinese", "密码：{A24}"),
    ("Password, Japanese", "パスワード：{A24}"),
    ("Password, Korean", "비밀번호: {A24}"),
];
