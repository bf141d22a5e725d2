/**
 * Chinese-English word pairs: software, data, operations. One line per topic; `_` joins the words of an English phrase, `|` separates
 * alternatives, the best first. Written for this project from general knowledge.
 */
export const SOFTWARE_WORDS = `
代码=code|source 源码=source_code|source 源代码=source_code 编程=programming|coding|code 程序=program|app
程序员=developer|programmer 软件=software 开发=develop|development|build 开发者=developer 开发人员=developer
编写=write|author 重构=refactor|refactoring 优化=optimize|optimization|improve 性能=performance
性能优化=performance_optimization|optimize_performance 调试=debug|debugging 排查=troubleshoot|diagnose|investigate
排错=troubleshoot|debug 诊断=diagnose|diagnostic 故障=fault|failure|incident|outage
故障排查=troubleshoot|troubleshooting|diagnose 报错=error 错误=error|bug|mistake 异常=exception|anomaly|error
缺陷=bug|defect 漏洞=vulnerability|security 修复=fix|repair|patch 崩溃=crash 闪退=crash 卡顿=slow|lag|performance
死锁=deadlock 内存=memory 内存泄漏=memory_leak 泄漏=leak 泄露=leak 溢出=overflow 堆栈=stack 队列=queue
消息队列=message_queue|queue 缓存=cache|caching 线程=thread 进程=process 协程=coroutine|goroutine
并发=concurrency|concurrent 并行=parallel 异步=async|asynchronous 同步=sync|synchronize 事务=transaction 回滚=rollback
提交=commit|submit 分支=branch 合并=merge 合并请求=merge_request|pull_request|pr 拉取请求=pull_request|pr
冲突=conflict 变基=rebase 仓库=repository|repo 代码库=codebase|repository|repo 版本=version|release
版本控制=version_control|git 版本号=version 发布=release|publish|deploy 发版=release 上线=launch|release|deploy
部署=deploy|deployment 构建=build 编译=compile|build 打包=package|bundle|packaging 安装=install|installation
卸载=uninstall 升级=upgrade 更新=update 迁移=migrate|migration 降级=downgrade 兼容=compatible|compatibility
依赖=dependency|dependencies 依赖注入=dependency_injection 包管理=package_manager|package 模块=module 组件=component
组件库=component_library|component 插件=plugin|extension 扩展=extension|extend|scale 扩展程序=extension 框架=framework
函数=function 函数式=functional 方法=method 接口=api|interface|endpoint 接口文档=api_documentation|api_doc|openapi
接口测试=api_test|api_testing 参数=parameter|argument 变量=variable 常量=constant 类型=type 泛型=generic|generics
枚举=enum 结构体=struct 指针=pointer 数组=array 列表=list 字典=dictionary|dict 集合=set|collection 对象=object
面向对象=object_oriented|oop 继承=inheritance 封装=encapsulation|wrapper 多态=polymorphism
设计模式=design_pattern|pattern 单例=singleton 工厂=factory 观察者=observer 架构=architecture
架构设计=architecture_design|system_design 架构图=architecture_diagram|diagram 微服务=microservice|microservices
单体=monolith 分布式=distributed 系统=system 系统设计=system_design 服务=service 服务器=server 服务端=server|backend
客户端=client 后端=backend 前端=frontend|front-end|ui 全栈=full-stack|fullstack 网关=gateway 代理=proxy|agent
反向代理=reverse_proxy|nginx 负载均衡=load_balancing|load_balancer 高可用=high_availability 容灾=disaster_recovery
高并发=high_concurrency 限流=rate_limit|rate_limiting|throttle 熔断=circuit_breaker 重试=retry 超时=timeout
幂等=idempotent|idempotency 日志=log|logging|logs 日志分析=log_analysis 监控=monitor|monitoring|observability
告警=alert|alerting 报警=alert|alarm 可观测=observability 可观测性=observability 链路追踪=tracing|trace
追踪=trace|tracking 埋点=tracking|analytics|event_tracking 指标=metric|metrics|kpi 容器=container|docker
镜像=image|docker_image|mirror 容器化=containerize|docker 编排=orchestrate|orchestration 集群=cluster 节点=node
云服务=cloud_service|cloud 云原生=cloud_native 云端=cloud 阿里云=alibaba_cloud|aliyun 腾讯云=tencent_cloud
华为云=huawei_cloud 虚拟机=virtual_machine|vm 运维=devops|operations|ops|sre 持续集成=continuous_integration|ci
持续部署=continuous_deployment|cd 流水线=pipeline 自动化=automation|automate|automated 自动=automatic|auto|automate
自动化测试=automated_testing|test_automation 脚本=script 命令=command 命令行=command_line|cli|terminal
终端=terminal|shell 控制台=console 环境=environment 环境变量=environment_variable|env 环境配置=environment_setup|setup
配置=config|configuration|configure|setup 配置文件=config_file|configuration 设置=setting|settings|setup|configure
初始化=initialize|init|setup 脚手架=scaffold|scaffolding|boilerplate 模板=template 样板=boilerplate
数据库=database|db|sql 数据库设计=database_design|schema 数据表=table 表结构=schema|table_schema
建表=create_table|schema 索引=index|indexing 查询=query|search 慢查询=slow_query 主键=primary_key 外键=foreign_key
存储=storage|store 存储过程=stored_procedure 视图=view 触发器=trigger 数据模型=data_model|schema
数据建模=data_modeling 建模=modeling|model 模型=model 大模型=llm|large_language_model|model
大语言模型=llm|large_language_model 语言模型=language_model|llm 机器学习=machine_learning|ml 深度学习=deep_learning
强化学习=reinforcement_learning 神经网络=neural_network 人工智能=ai|artificial_intelligence 训练=train|training
微调=fine-tune|fine-tuning|finetune 推理=inference|reasoning 预测=predict|prediction|forecast
分类=classify|classification|category 聚类=clustering|cluster 回归=regression 回归测试=regression_test|regression
特征=feature 特征工程=feature_engineering 标注=annotate|annotation|label 数据集=dataset 样本=sample
评估=evaluate|evaluation|assess 评测=evaluation|benchmark|eval 基准=benchmark|baseline 基准测试=benchmark|benchmarking
向量=vector|embedding 向量数据库=vector_database 嵌入=embedding|embed 检索=retrieval|search 检索增强=rag|retrieval
知识库=knowledge_base|wiki 知识图谱=knowledge_graph 图谱=graph 提示词=prompt 提示词工程=prompt_engineering
提示工程=prompt_engineering 提示=prompt|hint 智能体=agent 多智能体=multi-agent|agents 子代理=subagent
对话=conversation|chat|dialogue 聊天=chat 聊天机器人=chatbot|bot 机器人=bot|robot|chatbot 会话=session|conversation
上下文=context 记忆=memory 技能=skill 工具=tool 工具调用=tool_call|function_calling 工作流=workflow 工作流程=workflow
流程=process|workflow|flow 任务=task|job 定时任务=cron|scheduled_task|schedule 定时=schedule|cron|scheduled
调度=schedule|scheduler|scheduling 批处理=batch 批量=batch|bulk 流式=streaming|stream 实时=real-time|realtime|live
离线=offline 在线=online 数据=data 数据分析=data_analysis|analytics 数据清洗=data_cleaning|clean_data
数据处理=data_processing 数据可视化=data_visualization|visualization|chart 可视化=visualization|visualize
数据挖掘=data_mining 数据仓库=data_warehouse 数仓=data_warehouse 数据湖=data_lake 数据管道=data_pipeline
数据质量=data_quality 数据治理=data_governance 数据科学=data_science 大数据=big_data 数据源=data_source
元数据=metadata 统计=statistics|statistical 统计分析=statistical_analysis|statistics 抓取=scrape|scraping|crawl|fetch
爬虫=crawler|scraper|scraping|spider 爬取=crawl|scrape 采集=collect|scrape|harvest 解析=parse|parser|parsing
提取=extract|extraction 转换=convert|conversion|transform 格式转换=convert|format_conversion 格式=format
格式化=format|formatting|formatter 序列化=serialize|serialization 编码=encode|encoding|coding 解码=decode
压缩=compress|compression|zip 解压=unzip|extract|decompress 加密=encrypt|encryption 解密=decrypt 哈希=hash
签名=signature|sign 证书=certificate|ssl|tls 域名=domain|dns 网络=network|networking
网络安全=network_security|cybersecurity 网络请求=http_request|request 请求=request 响应=response
响应式=responsive|reactive 协议=protocol|agreement 端口=port 防火墙=firewall 路由=route|router|routing 路由器=router
带宽=bandwidth 延迟=latency|delay 抓包=packet_capture|pcap|wireshark 流量=traffic 安全=security|secure|safety
安全审计=security_audit 安全扫描=security_scan|security_scanning 渗透=penetration|pentest
渗透测试=penetration_testing|pentest 攻击=attack 注入=injection 注入攻击=injection 恶意软件=malware 病毒=virus|malware
逆向=reverse_engineering 逆向工程=reverse_engineering 取证=forensics|forensic 威胁=threat
威胁建模=threat_model|threat_modeling 权限=permission|access|authorization 鉴权=authentication|authorization|auth
认证=authentication|auth|certification 授权=authorization|auth|license 登录=login|sign-in|signin
注册=register|registration|signup 单点登录=sso|single_sign-on 密码=password 密钥=key|secret|api_key 令牌=token
凭证=credential|credentials 凭据=credential 隐私=privacy 脱敏=redact|masking|anonymize 合规=compliance 审计=audit
备份=backup 恢复=restore|recover|recovery 还原=restore 快照=snapshot 归档=archive 清理=clean|cleanup
删除=delete|remove 去重=deduplicate|dedupe|deduplication 重复=duplicate 测试=test|testing
单元测试=unit_test|unit_testing 集成测试=integration_test|integration_testing 端到端=end-to-end|e2e
端到端测试=e2e_test|end-to-end 压力测试=stress_test|load_test 压测=load_test|load_testing|stress_test
性能测试=performance_test|performance_testing 测试用例=test_case|test_cases 用例=case|use_case|test_case
测试覆盖率=test_coverage|coverage 覆盖率=coverage 断言=assert|assertion 模拟=mock|simulate|simulation
仿真=simulation|simulate 测试驱动=tdd|test-driven 验收=acceptance|accept 验收标准=acceptance_criteria
质量保证=quality_assurance|qa 测试计划=test_plan 代码审查=code_review|review 代码评审=code_review
代码规范=coding_standard|code_style|lint 代码质量=code_quality 代码生成=code_generation|codegen|generate_code
代码检查=lint|linter 静态分析=static_analysis 规范=standard|specification|convention|guideline 注释=comment|annotation
命名=naming|name 命名规范=naming_convention 技术债=technical_debt|tech_debt 技术选型=technology_selection|tech_stack
技术栈=tech_stack|stack 技术文档=technical_documentation|documentation
技术方案=technical_design|design_doc|technical_spec 需求=requirement|requirements 需求文档=prd|requirements
需求分析=requirements_analysis|requirement 规格=spec|specification 原型=prototype|mockup|wireframe
浏览器=browser|chrome 浏览器自动化=browser_automation 网页=web|webpage|web_page 网站=website|site|web 页面=page
单页=single_page 首页=homepage|landing_page 落地页=landing_page 静态网站=static_site 小程序=mini_program|miniprogram
微信小程序=wechat_mini_program 公众号=official_account|wechat 应用=app|application 移动端=mobile 移动应用=mobile_app
手机=mobile|phone 安卓=android 苹果=apple|ios 鸿蒙=harmonyos 桌面=desktop 桌面应用=desktop_app 跨平台=cross-platform
平台=platform 游戏=game 游戏开发=game_development|gamedev 游戏引擎=game_engine|unity|unreal 引擎=engine
渲染=render|rendering 着色器=shader 图形=graphics|graphic 三维=3d 二维=2d 动画=animation|animate 物理=physics
碰撞=collision 算法=algorithm 排序=sort|sorting 递归=recursion|recursive 动态规划=dynamic_programming
数据结构=data_structure 图论=graph 搜索=search 搜索引擎=search_engine 全文检索=full-text_search
正则=regex|regular_expression 正则表达式=regex|regular_expression 嵌入式=embedded 单片机=microcontroller|mcu
固件=firmware 硬件=hardware 驱动=driver 传感器=sensor 物联网=iot 串口=serial 电路=circuit 芯片=chip
操作系统=operating_system|os 内核=kernel 虚拟环境=virtualenv|venv|virtual_environment 区块链=blockchain|web3
链上=on-chain|onchain 智能合约=smart_contract|solidity 合约=contract 钱包=wallet 代币=token
加密货币=cryptocurrency|crypto 以太坊=ethereum 比特币=bitcoin 交易所=exchange 去中心化=decentralized|defi
开源=open_source|open-source 开源项目=open_source 许可证=license 贡献=contribute|contribution
问题=issue|problem|question 工单=ticket|issue 变更日志=changelog 更新日志=changelog|release_notes 变更=change
差异=diff|difference 对比=compare|comparison 比对=compare|comparison|diff 补丁=patch 钩子=hook 回调=callback 事件=event 事件驱动=event-driven
状态=state|status 状态管理=state_management 状态机=state_machine 生命周期=lifecycle 中间件=middleware 表单=form
校验=validate|validation|verify 验证=verify|validation|validate 验证码=captcha|verification_code 输入=input
输出=output 文件=file|files 文件夹=folder|directory 目录=directory|folder 目录结构=directory_structure|layout
路径=path 上传=upload 下载=download|downloader 导入=import 导出=export 拆分=split 切分=split|chunk 分割=split|segment
匹配=match|matching 替换=replace 重命名=rename 归类=categorize|organize 模块化=modular|modularity
解耦=decouple|decoupling 可复用=reusable 复用=reuse 可维护=maintainable 可扩展=scalable|extensible 可靠性=reliability
稳定性=stability|reliability 健壮=robust 低代码=low-code|no-code 无代码=no-code 无障碍=accessibility|a11y
国际化=internationalization|i18n 本地化=localization|l10n 多语言=multilingual|i18n 暗色模式=dark_mode
深色模式=dark_mode 服务发现=service_discovery 无服务器=serverless 消息=message 推送=push|notification
通知=notification|notify 订阅=subscribe|subscription 长连接=websocket 语音识别=speech_recognition|asr|transcribe
语音合成=text-to-speech|tts|speech 图像识别=image_recognition|ocr|vision 文字识别=ocr 人脸识别=face_recognition
计算机视觉=computer_vision|vision 自然语言=natural_language|nlp 自然语言处理=nlp|natural_language_processing
推荐系统=recommendation|recommender 推荐=recommend|recommendation 整理=organize|tidy|clean
`;
