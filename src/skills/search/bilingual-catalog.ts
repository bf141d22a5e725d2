/** Chinese-English word pairs: common words of skill descriptions. See bilingual-software.ts. */
export const CATALOG_WORDS = `
功能=feature|function|functionality 提供=provide|offer 操作=operation|operate|action 工作=work|job 包括=include
智能=intelligent|smart|ai 模式=mode|pattern 技术=technology|technical|technique 机制=mechanism 语言=language
跟踪=track|tracking|trace 要求=requirement|require|request 方式=way|method|approach 询问=ask|inquire 电子=electronic
帮助=help|assist 确保=ensure 适合=suitable|fit 过程=process|procedure 社交=social 货币=currency 媒体=media
明确=explicit|clear 利用=leverage|utilize 机器=machine 自然=natural|nature 动态=dynamic|activity|feed
参考=reference|refer 安排=arrange|schedule|plan 定义=define|definition 持续=continuous|ongoing
制定=formulate|create|plan 行为=behavior|behaviour 设备=device|equipment 详细=detailed|detail 最佳=best|optimal
准备=prepare|preparation|ready 外部=external 别名=alias 自主=autonomous 了解=learn|understand
覆盖=cover|coverage|override 创作=create|creation|creative 关系=relationship|relation 真实=real|true|authentic
潜在=potential 空间=space|spatial 资金=fund|funds|capital 调整=adjust|tune|adjustment 状况=status|condition
组合=combine|combination|portfolio 分配=allocate|assign|allocation|distribution 信号=signal|signals
基础=basic|foundation|base 基础设施=infrastructure 通信=communication|messaging 主动=proactive|active
判断=judge|determine|decide 返回=return 互动=interact|interaction|engagement 具体=specific|concrete
指令=instruction|command 联系=contact 参与=participate|engage|engagement 指导=guide|guidance|coach 购买=buy|purchase
通用=general|universal|generic 表达=express|expression 官方=official 预订=book|booking|reservation
预约=appointment|booking|book 预定=booking|reserve 业务=business 辅助=assist|auxiliary|aid
个性化=personalized|personalize|personalization 开始=start|begin 保持=keep|maintain 实际=actual|real|practical
详情=detail|details 类似=similar 独立=independent|standalone 共享=share|shared 中心=center|hub 公众=public
变化=change|changes 讨论=discuss|discussion 措施=measure|measures 虚拟=virtual 端点=endpoint 持久=persistent
持久化=persist|persistence 整合=integrate|consolidate|integration 信任=trust 生命=life 形式=form 原始=raw|original
有效=effective|valid 人类=human 默认=default 激活=activate|activation 找到=find 领域=domain|field 窗口=window
深入=deep|in-depth 协调=coordinate|coordination 体验=experience 成员=member 背景=background|context
定制=custom|customize 自定义=custom|customize 更改=change|modify 体系=system 启用=enable 禁用=disable 奖励=reward
失败=fail|failure|failed 成功=success|successful 实例=instance|example 交付=deliver|delivery 交付物=deliverable
托管=hosting|host|managed 引导=guide|onboarding|guided 关注=follow|focus 附近=nearby 思维=thinking|mindset 分钟=minute
小时=hour 警报=alert|alarm 防护=protection|guard 综合=comprehensive 可靠=reliable 选项=option|options
文稿=manuscript|draft 原生=native 初始=initial 建立=establish|build|set_up 严格=strict|rigorous 恶意=malicious
遵循=follow|comply 正确=correct 日常=daily|routine 金融=finance|financial 定期=regular|periodic|recurring
实施=implement|implementation 生活=life|lifestyle 技巧=tip|tips|technique|trick 医疗=medical|healthcare 准确=accurate
准确性=accuracy 交流=communicate|exchange|chat 设施=facility 适应=adapt|adaptive 大型=large 播放=play|playback
类别=category|class 样式=style|styling|css 合成=synthesize|synthesis|compose 正式=formal|official
可用性=availability|usability 标记=mark|tag|label|flag 捕获=capture 经验=experience|lesson 经验教训=lessons_learned
取消=cancel|unsubscribe 发起=initiate|launch 即时=instant|real-time 防御=defense|defensive 混合=hybrid|mixed
聚合=aggregate|aggregation|aggregator 缺失=missing 映射=mapping|map 特性=feature|characteristic 强大=powerful
认知=cognitive|cognition 隔离=isolate|isolation|sandbox 沙箱=sandbox 沙盒=sandbox 关联=associate|correlation|link
话题=topic 传输=transfer|transmission 结束=end|finish 美元=dollar|usd 人民币=rmb|cny|yuan 实用=practical|useful
静态=static 生态=ecosystem|ecology 公告=announcement|notice 干预=intervention 机构=institution|organization|agency
公共=public 丢失=lost|loss 可疑=suspicious 协助=assist|help 人员=personnel|staff|people 稳定=stable 稳定币=stablecoin
消耗=consume|consumption|usage 行动=action 行动计划=action_plan 分级=grade|tier|classification 速率=rate
速率限制=rate_limit 全局=global 指数=index 表现=performance|behavior 商家=merchant|seller|business
商务=business|commerce 清晰=clear 通讯=communication|newsletter 管道=pipeline|pipe 私有=private 私人=private|personal
传递=pass|deliver 交通=traffic|transportation|transit 发展=develop|development|growth 成果=achievement|result|outcome
排除=exclude|troubleshoot 替代=alternative|replace|substitute 地点=place|location 逐步=step-by-step|gradual
元素=element 高效=efficient 交换=exchange|swap 敏感=sensitive 敏感信息=sensitive_information|secret|pii
产物=artifact|output 强制=force|enforce|mandatory 等待=wait 合理=reasonable 应对=respond|cope|handle
创新=innovation|innovative 消费=consumption|spending|consumer 消费者=consumer 付款=payment|pay 节省=save|saving
按需=on-demand 回顾=review|retrospective|recap 作者=author 委托=delegate|delegation 原则=principle|principles
原理=principle|how_it_works 实体=entity 简洁=concise|clean|minimal 属性=property|attribute 理念=philosophy|concept
搭建=build|set_up|scaffold 陷阱=pitfall|trap 桥接=bridge 心跳=heartbeat 上游=upstream 下游=downstream
术语=term|terminology|glossary 自由=free|freedom 进展=progress 移除=remove 监测=monitor|monitoring
叙事=narrative|storytelling 渠道=channel 治理=governance 传统=traditional 排行榜=leaderboard|ranking 方向=direction
后台=background|admin|backend 管理后台=admin_panel|admin|dashboard 收益=revenue|yield|earnings 内部=internal
系列=series 群组=group 顺序=order|sequence 赚取=earn 赚钱=make_money|earn|monetize 领取=claim 加入=join|add
合作=cooperation|partnership|collaborate 合作伙伴=partner 调查=investigate|investigation|survey 忠诚=loyalty
季节=season|seasonal 插入=insert 积分=points|credit|credits 障碍=obstacle|barrier 暴露=expose|exposure
跟进=follow-up|follow_up 感知=perception|aware|sense 只读=read-only 支出=spending|expense|expenditure 规模=scale|size
水平=level 地理位置=geolocation|location 动作=action|motion 档案=profile|archive|record 区域=region|area 丰富=rich
转移=transfer 轮播=carousel 持有=hold|holding 全文=full_text 传播=spread|communication 入口=entry|entrance
成交量=volume|trading_volume 平均=average|mean 拒绝=reject|refuse|deny 协商=negotiate 意见=opinion|feedback
家居=home|household 回忆=recall|memory 监听=listen|monitor|watch 被动=passive 开放=open 过时=outdated|stale|obsolete
监管=regulation|regulatory|supervision 回应=respond|response 临时=temporary|temp 董事会=board 正文=body|text
无缝=seamless 特殊=special 窃取=steal|theft 主机=host 画像=profile|portrait|persona 建设=build|construction
商店=store|shop 完整性=integrity|completeness 阻止=block|prevent 发表=publish 轮换=rotate|rotation 路线=route|roadmap
决定=decide|decision 辅导=tutor|tutoring|coaching 作品=work|portfolio|artwork 偏好=preference|preferences
加固=harden|hardening 节奏=rhythm|pace|cadence 投票=vote|voting|poll 电视=tv|television 永久=permanent
吸引=attract|engaging 客观=objective 主观=subjective 结对=pair 手工=manual 手动=manual|manually 自检=self-check
自测=self-test 门禁=gate|quality_gate 回执=receipt 清洗数据=clean_data 快讯=news|flash 社论=editorial
编年=timeline|chronicle 词典=dictionary 百科=encyclopedia|wiki 维基=wiki 问诊=consultation 挂号=appointment
体重=weight 卡路里=calorie|calories 心率=heart_rate 步数=steps 训练计划=training_plan|workout_plan
比例=ratio|proportion 百分比=percentage|percent 单位=unit 精度=precision|accuracy 误差=error|deviation 阈值=threshold
区间=interval|range 上限=limit|cap 频道订阅=channel_subscription 提要=feed|rss 聚合器=aggregator
抓取网页=scrape|web_scraping 网页抓取=web_scraping|scrape 网页搜索=web_search 联网搜索=web_search 网络搜索=web_search
图片搜索=image_search 文件搜索=file_search 代码搜索=code_search 文件转换=file_conversion|convert
文档转换=document_conversion|convert 文档处理=document_processing 表格处理=spreadsheet 图片处理=image_processing
视频处理=video_processing 音频处理=audio_processing 文本处理=text_processing 文本分析=text_analysis
图像生成=image_generation 图像编辑=image_editing 图片编辑=image_editing 语音助手=voice_assistant
语音克隆=voice_cloning 视频下载=video_download|downloader 视频总结=video_summary|summarize_video
视频翻译=video_translation 字幕翻译=subtitle_translation|subtitle 会议总结=meeting_summary 邮件回复=email_reply
日程管理=calendar|schedule_management 待办清单=todo_list 购物清单=shopping_list 预算管理=budget|budgeting
支出跟踪=expense_tracking 习惯养成=habit_tracking|habit 情感支持=emotional_support 每日一句=daily_quote
名言=quote|quotes 天气预报=weather_forecast|weather 空气质量=air_quality 地震=earthquake 航班=flight|flights
地铁=metro|subway 公交=bus|transit 停车=parking 加油=fuel|gas 充电=charge|charging 房价=house_price|housing 租金=rent
账本=ledger 现金=cash 收款=payment|receive_payment 转账=transfer 提现=withdraw|withdrawal 充值=top-up|deposit|recharge
余额=balance 手续费=fee|fees 滑点=slippage 套利=arbitrage 做市=market_making 杠杆=leverage 止损=stop-loss|stop_loss
仓位=position 行权=exercise 分红=dividend 市值=market_cap 市盈率=pe_ratio 涨跌=price_change 涨停=limit-up 空投=airdrop
挖矿=mining 质押=staking|stake 公链=blockchain 跨链=cross-chain|bridge 铸造=mint 藏品=collectible|nft
`;
