use clap::Parser as _;

use super::*;
use crate::cli::{Command, CommandLine};

fn plan(arguments: &[&str]) -> Result<Plan, Failure> {
    let begin = ["benchweb-engine", "run", arguments[0], "--peer", "p", "--token-file", "t"];
    let line = CommandLine::try_parse_from(begin.iter().chain(&arguments[1..])).expect("parses");
    match line.command {
        Command::Run(options) => Plan::new(&options),
        _ => unreachable!("the arguments begin with run"),
    }
}

fn names(arguments: &[&str]) -> Vec<String> {
    plan(arguments).expect("a plan").combinations.iter().map(Combination::name).collect()
}

fn refusal(arguments: &[&str]) -> String {
    plan(arguments).expect_err("refused").to_string()
}

#[test]
fn one_value_each_is_a_single_test() {
    let plan = plan(&["tcp_stream", "--set", "message_size_bytes=64"]).unwrap();
    assert!(plan.is_single());
    assert_eq!(plan.combinations[0].name(), "");
    assert_eq!(plan.combinations[0].params.integer("message_size_bytes"), Ok(64));
}

#[test]
fn several_lists_give_their_cross_product() {
    let arguments =
        ["tcp_stream", "--set", "message_size_bytes=64,1024", "--set", "direction=forward,reverse"];
    assert_eq!(
        names(&arguments),
        [
            "message_size_bytes=64 direction=forward",
            "message_size_bytes=64 direction=reverse",
            "message_size_bytes=1024 direction=forward",
            "message_size_bytes=1024 direction=reverse",
        ]
    );
}

#[test]
fn a_comma_that_belongs_to_the_value_makes_no_list() {
    assert_eq!(names(&["tcp_rr", "--set", "source_cpus=0,2-3"]), [""]);
    assert_eq!(
        names(&["tcp_rr", "--set", "source_cpus=0;0,1"]),
        ["source_cpus=0", "source_cpus=0,1"]
    );
}

#[test]
fn a_text_that_can_hold_no_comma_makes_a_list() {
    assert_eq!(
        names(&["tcp_rr", "--set", "congestion_control=reno,bbr", "--set", "nodelay=true,false"]),
        [
            "congestion_control=reno nodelay=true",
            "congestion_control=reno nodelay=false",
            "congestion_control=bbr nodelay=true",
            "congestion_control=bbr nodelay=false",
        ]
    );
}

#[test]
fn each_value_of_a_list_is_checked() {
    let sizes = "message_size_bytes=64,0";
    assert!(refusal(&["tcp_stream", "--set", sizes]).contains("message_size_bytes is 0 B"));
    assert!(refusal(&["tcp_stream", "--set", "flows=1,,2"]).contains("flows is \"\""));
    let many = (1..=200).map(|size| size.to_string()).collect::<Vec<_>>().join(",");
    let (sizes, flows) = (format!("message_size_bytes={many}"), format!("flows={many}"));
    assert!(refusal(&["tcp_stream", "--set", &sizes, "--set", &flows]).contains("over 10000"));
}

#[test]
fn confidence_repeats_3_to_30_times_unless_told_otherwise() {
    let bounds = |arguments: &[&str]| {
        let rule = plan(arguments).unwrap().rule;
        (rule.minimum, rule.maximum)
    };
    assert_eq!(bounds(&["tcp_rr"]), (1, 1));
    assert_eq!(bounds(&["tcp_rr", "--repetitions", "5"]), (5, 5));
    assert_eq!(bounds(&["tcp_rr", "--confidence", "99,5"]), (3, 30));
    assert_eq!(bounds(&["tcp_rr", "--confidence", "99,5", "--repetitions", "10"]), (10, 30));
    assert_eq!(bounds(&["tcp_rr", "--confidence", "99,5", "--repetitions", "40"]), (40, 40));
    assert_eq!(bounds(&["tcp_rr", "--confidence", "99,5", "--repetitions", "2-4"]), (2, 4));
    assert!(refusal(&["tcp_rr", "--repetitions", "2-4"]).contains("goes with --confidence"));
    let single = ["tcp_rr", "--confidence", "99,5", "--repetitions", "1"];
    assert!(refusal(&single).contains("at least 2 repetitions"));
}
