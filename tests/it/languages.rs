//! Questions in Chinese, Japanese and Korean, asked of a file with memories in these languages and in English.

use std::path::Path;
use std::time::Duration;

use memories::document::Document;
use memories::notebook::SharedSnapshot;
use memories::search::embedded::StaticModel;
use memories::search::filter::Filter;
use memories::search::{SearchSettings, Searcher};
use memories::store::Store;
use memories::types::{Category, Memory, Scope};

use crate::retrieval::data::read_docs;

/// Title, text and the question that the text answers.
const CHINESE: [[&str; 3]; 10] = [
    ["地窖里的隧道", "隧道在地窖的木桶后面，一直通到河边。", "隧道在哪里"],
    ["生锈的钥匙", "阁楼的横梁上挂着一把生锈的钥匙。", "我在什么地方见过钥匙？"],
    ["桥上的巨魔", "巨魔守着石桥，用剑才能打败它。", "怎么打败巨魔？"],
    ["磨坊主的欠债", "磨坊主欠玛尔塔三枚银币。", "谁欠玛尔塔钱？"],
    ["渡船的时间", "渡船每天早上六点从码头出发。", "渡船几点出发？"],
    ["祭坛的蜡烛", "点燃祭坛上的三支蜡烛，暗门就会打开。", "暗门怎样才会打开？"],
    ["狼群", "天黑以后，北边的森林里有狼群。", "晚上森林里有危险吗？"],
    ["药剂师的配方", "药剂师用银叶草和蜂蜜做解毒药。", "解毒药是用什么做的？"],
    ["节日", "1月25日镇上举行冰灯节。", "冰灯节在2025年1月25日举行吗？"],
    ["铁匠的要求", "铁匠要两块煤才肯修理盾牌。", "修理盾牌需要什么？"],
];

const JAPANESE: [[&str; 3]; 10] = [
    ["地下室のトンネル", "トンネルは地下室の樽の後ろにあり、川へ続いている。", "トンネルはどこにありますか"],
    ["錆びた鍵", "屋根裏の梁に錆びた鍵が掛かっている。", "鍵はどこで見ましたか？"],
    ["橋のトロール", "トロールは石の橋を守っていて、剣でしか倒せない。", "トロールを倒す方法は？"],
    ["粉屋の借金", "粉屋はマルタに銀貨を三枚借りている。", "マルタに借金があるのは誰？"],
    ["渡し船", "渡し船は毎朝六時に港を出る。", "渡し船は何時に出ますか？"],
    ["祭壇のろうそく", "祭壇の蝋燭に火をつけると隠し扉が開く。", "隠し扉を開くには？"],
    ["狼", "夜になると北の森に狼の群れが出る。", "夜の森は危険ですか？"],
    ["薬師の調合", "薬師は銀葉草と蜂蜜で解毒剤を作る。", "解毒剤の材料は何ですか？"],
    ["祭り", "1月25日に町で氷の祭りがある。", "氷の祭りはいつですか？"],
    ["鍛冶屋の頼み", "鍛冶屋は石炭を二つ渡すと盾を直してくれる。", "盾を直すには何が必要？"],
];

const KOREAN: [[&str; 3]; 10] = [
    ["지하실 터널", "터널은 지하실의 통 뒤에 있고 강으로 이어진다.", "터널은 어디에 있나요?"],
    ["녹슨 열쇠", "다락방 들보에 녹슨 열쇠가 걸려 있다.", "열쇠를 어디에서 보았지?"],
    ["다리의 트롤", "트롤이 돌다리를 지키며 검으로만 이길 수 있다.", "트롤을 어떻게 이길 수 있나?"],
    ["방앗간 주인의 빚", "방앗간 주인은 마르타에게 은화 세 닢을 빚졌다.", "누가 마르타에게 빚졌나요?"],
    ["나룻배 시간", "나룻배는 매일 아침 여섯 시에 부두를 떠난다.", "나룻배는 몇 시에 떠나나요?"],
    ["제단의 촛불", "제단의 촛불 세 개를 켜면 비밀 문이 열린다.", "비밀 문은 어떻게 열려?"],
    ["늑대", "밤이 되면 북쪽 숲에 늑대 떼가 나온다.", "밤에 숲은 위험한가요?"],
    ["약사의 조제법", "약사는 은잎풀과 꿀로 해독제를 만든다.", "해독제는 무엇으로 만드나요?"],
    ["축제", "1월 25일에 마을에서 얼음 축제가 열린다.", "얼음 축제는 언제 열리나요?"],
    ["대장장이의 부탁", "대장장이는 석탄 두 덩이를 주면 방패를 고쳐 준다.", "방패를 고치려면 무엇이 필요해?"],
];

#[test]
fn questions_find_the_right_line_of_a_mixed_file() {
    let mut document = Document::parse(String::new());
    let mut add = |scope: Scope, title: &str, text: &str| {
        document.add(&scope, "", &Memory::new(Category::note(), title, text)).unwrap();
    };
    let english = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/search/documents.jsonl");
    for doc in read_docs(&english).unwrap().texts {
        add(Scope::Location(doc.location.unwrap_or(0)), &doc.title, &doc.text);
    }
    for [title, text, _] in CHINESE.iter().chain(&JAPANESE).chain(&KOREAN) {
        add(Scope::World, title, text);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    std::fs::write(&path, document.into_text().unwrap()).unwrap();
    let store = Store::open(&path, Duration::from_secs(5)).unwrap();
    let settings = SearchSettings::default();
    let searcher = Searcher::new(SharedSnapshot::new(store), settings, Box::new(StaticModel::new()));
    for [title, _, question] in CHINESE.iter().chain(&JAPANESE).chain(&KOREAN) {
        let found = searcher.query(question, &Filter::default(), 3).unwrap();
        let titles: Vec<&str> = found.hits.iter().map(|hit| hit.memory.title.as_str()).collect();
        assert_eq!(titles.first(), Some(title), "{question}: {titles:?}");
    }
    // A question about something that nobody wrote down finds nothing.
    for question in ["今天天气怎么样？", "明日の天気は？", "내일 날씨가 어때?"] {
        let found = searcher.query(question, &Filter::default(), 1).unwrap();
        assert!(found.hits.is_empty(), "{question}: {}", found.hits[0].memory.title);
    }
}
